//! A tank drives over hills and keeps its gun on a drone.
//!
//! ```text
//! cargo run --release --example turret
//! ```
//!
//! What it shows: a pose set in world space under a parent that is not at the origin; two nodes that each turn about
//! one axis only, as the real machine does; `look_at` beside them; a node that leaves its parent without a jump.
//!
//! ```text
//! level                    where this piece of the map lies in the world
//! └─ tank                  follows the ground
//!    └─ ring               turns about its Y axis only (yaw)
//!       ├─ barrel          turns about its X axis only (pitch); looks along -Z
//!       │  ├─ muzzle
//!       │  └─ shell        while one is in the breech
//!       └─ sight           free: aimed by look_at
//! drone                    a root; its local pose is its world pose
//! ```

use posetree::glam::{Quat, Vec3};
use posetree::{Error, Hierarchy, Keep, NodeId, Space, Transform};

const FRAMES: u16 = 240;
const FRAME: f32 = 1.0 / 20.0;
const FIRE_EVERY: u16 = 48;
/// How far the ray of a gun may pass from its target.
const MISS: f32 = 1e-4;
/// How far detaching may move a shell. Its world was a product of five float32 matrices, each sum of three products
/// rounded six times by `ε / 2` of coordinates below 64; as a root it has the float64 product, rounded once.
const JUMP: f32 = 5.0 * 6.0 * 0.5 * f32::EPSILON * 64.0;

/// Height of the ground above `y = 0`.
fn height(x: f32, z: f32) -> f32 {
    2.0 * (0.15 * x).sin() + 1.5 * (0.2 * z + 0.1 * x).cos()
}

/// Upright unit normal of the ground: at right angles to both slopes.
fn ground_normal(x: f32, z: f32) -> Vec3 {
    let dx = 0.3 * (0.15 * x).cos() - 0.15 * (0.2 * z + 0.1 * x).sin();
    let dz = -0.3 * (0.2 * z + 0.1 * x).sin();
    Vec3::new(-dx, 1.0, -dz).normalize()
}

/// The tank drives in a circle: where it is on the map, and where it heads.
fn track(time: f32) -> (Vec3, Vec3) {
    let (sin, cos) = (0.25 * time).sin_cos();
    let (x, z) = (30.0 * cos, 30.0 * sin);
    (Vec3::new(x, height(x, z), z), Vec3::new(-sin, 0.0, cos))
}

/// The drone flies a figure of eight.
fn flight(time: f32) -> Vec3 {
    Vec3::new(40.0 * (0.5 * time).sin(), 18.0 + 6.0 * (0.7 * time).cos(), 25.0 * time.sin() - 10.0)
}

struct Tank {
    root: NodeId,
    ring: NodeId,
    barrel: NodeId,
    muzzle: NodeId,
    sight: NodeId,
}

impl Tank {
    fn new(h: &mut Hierarchy, level: NodeId) -> Result<Self, Error> {
        let root = h.add_child(level, Transform::IDENTITY)?;
        let ring = h.add_child(root, Transform::from_position(Vec3::new(0.0, 1.4, 0.3)))?;
        // No sideways offset: the barrel's axis lies in the plane that the ring turns, so that yaw and pitch can be
        // found one after the other.
        let barrel = h.add_child(ring, Transform::from_position(Vec3::new(0.0, 0.4, -0.9)))?;
        let muzzle = h.add_child(barrel, Transform::from_position(Vec3::new(0.0, 0.0, -3.5)))?;
        let sight = h.add_child(ring, Transform::from_position(Vec3::new(0.6, 0.8, 0.2)))?;
        Ok(Self { root, ring, barrel, muzzle, sight })
    }

    /// Stands the tank on the ground. The ground is known in world space, and the tank is a child of the level;
    /// `set_world_transform` does the conversion.
    fn drive(&self, h: &mut Hierarchy, time: f32) -> Result<(), Error> {
        let (position, heading) = track(time);
        let up = ground_normal(position.x, position.z);
        // The heading, raised until it lies on the ground: at right angles to up, so that both come out as given.
        let forward = heading - heading.dot(up) / up.y * Vec3::Y;
        let pose = Transform::from_position(position).looking_to(forward, up)?;
        h.set_world_transform(self.root, pose)?;
        Ok(())
    }

    /// Aims the gun. Each joint asks where the target is in its own frame, and turns about its own axis by the angle
    /// it is off. No joint needs to know what it is mounted on, or how that leans.
    fn aim(&self, h: &mut Hierarchy, target: Vec3) -> Result<(), Error> {
        let seen = h.world_to_local_point(self.ring, target)?;
        h.rotate(self.ring, Quat::from_rotation_y(f32::atan2(-seen.x, -seen.z)), Space::Local)?;

        // The ring has turned, and what the barrel sees with it: reads are never stale, there is nothing to update.
        let seen = h.world_to_local_point(self.barrel, target)?;
        h.rotate(self.barrel, Quat::from_rotation_x(f32::atan2(seen.y, -seen.z)), Space::Local)?;

        // The sight hangs free, so `look_at` may turn it about any axis.
        h.look_at(self.sight, target, h.world_up(self.ring)?)?;
        Ok(())
    }
}

/// By how much the ray from a node along its forward axis misses a point.
fn miss(h: &Hierarchy, node: NodeId, target: Vec3) -> Result<f32, Error> {
    let eye = h.local_to_world_point(node, Vec3::ZERO)?;
    let to_target = target - eye;
    let forward = h.world_forward(node)?;
    assert!(forward.dot(to_target) > 0.0, "the target is behind");
    Ok(to_target.cross(forward).length())
}

fn main() -> Result<(), Error> {
    let mut h = Hierarchy::new();
    // The level is somewhere, turned somehow: nothing below it may care.
    let level = Transform::new(Vec3::new(20.0, -3.0, 12.0), Quat::from_rotation_y(0.8), Vec3::ONE);
    let level = h.add_root(level)?;
    let tank = Tank::new(&mut h, level)?;
    let drone = h.add_root(Transform::IDENTITY)?;
    let mut falling: Vec<(NodeId, Vec3)> = Vec::new();
    let (mut worst_miss, mut worst_jump, mut fired) = (0f32, 0f32, 0);

    println!("angles in degrees; lean: of the tank; parallax: between gun and sight\n");
    println!("time   tank x      y      z   lean     yaw  pitch   range     miss  parallax  shells");
    for frame in 0..=FRAMES {
        let time = f32::from(frame) * FRAME;
        h.set_position(drone, flight(time))?;
        let target = h.world_position(drone)?;
        tank.drive(&mut h, time)?;
        tank.aim(&mut h, target)?;

        if frame % FIRE_EVERY == 0 {
            // The spent shell leaves the breech: loaded as a child of the barrel, it becomes a root.
            let shell = h.add_child(tank.barrel, Transform::from_position(Vec3::new(0.2, 0.0, 0.5)))?;
            let before = h.world(shell)?;
            let thrown = h.local_to_world_vector(shell, Vec3::new(4.0, 2.0, 0.0))?;
            h.detach(shell, Keep::World)?;
            let after = h.world(shell)?;
            let jump = (after.translation - before.translation).abs().max_element();
            worst_jump = worst_jump.max(jump);
            assert!(jump <= JUMP && after.abs_diff_eq(before, JUMP), "the shell jumped: {before} to {after}");
            assert_eq!(h.parent(shell)?, None);
            falling.push((shell, thrown));
            fired += 1;
        }
        // Shells fall and tumble in the world, whatever the tank does; on the ground they are gone.
        let mut flying = Vec::new();
        for (shell, velocity) in falling {
            let velocity = velocity - 9.81 * FRAME * Vec3::Y;
            h.translate(shell, FRAME * velocity, Space::World)?;
            h.rotate(shell, Quat::from_rotation_z(6.0 * FRAME), Space::Local)?;
            let at = h.world_position(shell)?;
            if at.y > height(at.x, at.z) {
                flying.push((shell, velocity));
            } else {
                h.remove_subtree(shell)?;
            }
        }
        falling = flying;

        h.update();

        // The tank stands as the ground does.
        let ground = track(time).0;
        assert!(h.world_position(tank.root)?.abs_diff_eq(ground, 1e-5));
        assert!(h.world_up(tank.root)?.abs_diff_eq(ground_normal(ground.x, ground.z), 1e-6));
        // Each joint has turned about its own axis only: the other parts of its quaternion are zero, not just small.
        let (yaw, pitch) = (h.rotation(tank.ring)?, h.rotation(tank.barrel)?);
        assert!(yaw.x == 0.0 && yaw.z == 0.0 && pitch.y == 0.0 && pitch.z == 0.0, "{yaw} {pitch}");
        // And yet both the gun and the sight point at the drone.
        let gun_miss = miss(&h, tank.muzzle, target)?;
        let sight_miss = miss(&h, tank.sight, target)?;
        assert!(gun_miss <= MISS && sight_miss <= MISS, "frame {frame}: missed by {gun_miss}, {sight_miss}");
        worst_miss = worst_miss.max(gun_miss).max(sight_miss);

        if frame % 20 == 0 {
            let lean = h.world_up(tank.root)?.angle_between(Vec3::Y).to_degrees();
            let yaw = degrees(2.0 * f32::atan2(yaw.y, yaw.w));
            let pitch = degrees(2.0 * f32::atan2(pitch.x, pitch.w));
            let range = h.world_position(tank.muzzle)?.distance(target);
            let parallax = h.world_forward(tank.muzzle)?.angle_between(h.world_forward(tank.sight)?).to_degrees();
            println!(
                "{time:4.1}   {:6.2} {:6.2} {:6.2}  {lean:5.1}  {yaw:6.1}  {pitch:5.1}  {range:6.2}  {gun_miss:.1e}  \
                 {parallax:8.2}  {:6}",
                ground.x,
                ground.y,
                ground.z,
                falling.len()
            );
        }
    }
    println!("\n{} frames: gun and sight within {worst_miss:.1e} of the drone (allowed {MISS:.0e})", FRAMES + 1);
    println!("{fired} shells detached: none moved by more than {worst_jump:.1e} (float32 allows {JUMP:.1e})");
    Ok(())
}

/// An angle in degrees, between -180 and 180.
fn degrees(angle: f32) -> f32 {
    (angle.to_degrees() + 180.0).rem_euclid(360.0) - 180.0
}
