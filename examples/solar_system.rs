//! Sun, earth and moon, stepped through one year.
//!
//! ```text
//! cargo run --release --example solar_system
//! ```
//!
//! Three kinds of nodes, each with one job, make a scene in which nothing is inherited by accident:
//!
//! - a **pivot** sits at a centre and only turns; what hangs under it goes round;
//! - a **place** sits at an offset from its pivot; it is what others hang on to ("the earth");
//! - a **mesh** is a leaf, and the only kind that has a scale. A leaf has no children that could inherit it.
//!
//! ```text
//! sun                      place
//! ├─ sun_mesh              mesh, scale 10
//! └─ earth_orbit           pivot, once a year
//!    └─ earth              place, 100 from the sun; does not turn with its orbit
//!       ├─ earth_axis      place, tilted
//!       │  └─ earth_spin   pivot, once a day
//!       │     └─ earth_mesh   mesh, scale 1
//!       └─ moon_plane      place, inclined
//!          └─ moon_orbit   pivot, once a month
//!             └─ moon      place, 5 from the earth; turns with its orbit
//!                └─ moon_mesh   mesh, scale 0.27
//! ```
//!
//! The unit is the earth's radius. Angles, periods and the moon's size are real. The rest is compressed to be seen
//! in one picture: the sun's radius would be 109, the earth's orbit 23 500, the moon's 60.

use posetree::glam::{DVec3, Quat, Vec3};
use posetree::{Error, Hierarchy, NodeId, Space, Transform, Worlds};
use std::f32::consts::TAU;

const SUN_RADIUS: f32 = 10.0;
const EARTH_RADIUS: f32 = 1.0;
const MOON_RADIUS: f32 = 0.27;
const EARTH_DISTANCE: f32 = 100.0;
const MOON_DISTANCE: f32 = 5.0;

const DAYS_IN_YEAR: u16 = 365;
/// The year, the day and the month against the stars: the angles by which things really turn.
const YEAR: f32 = 365.256;
const DAY: f32 = 0.997_27;
const MONTH: f32 = 27.321_7;

const AXIAL_TILT: f32 = 23.44;
const MOON_INCLINATION: f32 = 5.14;

struct SolarSystem {
    hierarchy: Hierarchy,
    sun: NodeId,
    sun_mesh: NodeId,
    earth_orbit: NodeId,
    earth: NodeId,
    earth_axis: NodeId,
    earth_spin: NodeId,
    earth_mesh: NodeId,
    moon_orbit: NodeId,
    moon: NodeId,
    moon_mesh: NodeId,
}

impl SolarSystem {
    fn new() -> Result<Self, Error> {
        let mut h = Hierarchy::new();
        let tilt = Quat::from_rotation_z(-AXIAL_TILT.to_radians());
        let inclination = Quat::from_rotation_x(MOON_INCLINATION.to_radians());

        let sun = h.add_root(Transform::IDENTITY)?;
        let sun_mesh = h.add_child(sun, Transform::from_uniform_scale(SUN_RADIUS))?;

        let earth_orbit = h.add_child(sun, Transform::IDENTITY)?;
        let earth = h.add_child(earth_orbit, Transform::from_position(EARTH_DISTANCE * Vec3::X))?;
        let earth_axis = h.add_child(earth, Transform::from_rotation(tilt))?;
        let earth_spin = h.add_child(earth_axis, Transform::IDENTITY)?;
        let earth_mesh = h.add_child(earth_spin, Transform::from_uniform_scale(EARTH_RADIUS))?;

        // Beside the axis, not under it: the moon's orbit has nothing to do with the way the earth leans or spins.
        let moon_plane = h.add_child(earth, Transform::from_rotation(inclination))?;
        let moon_orbit = h.add_child(moon_plane, Transform::IDENTITY)?;
        let moon = h.add_child(moon_orbit, Transform::from_position(MOON_DISTANCE * Vec3::X))?;
        let moon_mesh = h.add_child(moon, Transform::from_uniform_scale(MOON_RADIUS))?;

        Ok(Self {
            hierarchy: h,
            sun,
            sun_mesh,
            earth_orbit,
            earth,
            earth_axis,
            earth_spin,
            earth_mesh,
            moon_orbit,
            moon,
            moon_mesh,
        })
    }

    /// Puts everything where it is on a day. Only pivots turn; all else follows from the tree.
    fn set_day(&mut self, day: u16) -> Result<(), Error> {
        let h = &mut self.hierarchy;
        let day = f32::from(day);
        // An angle that is known is set, not added up: no error grows with the days.
        h.set_rotation(self.earth_orbit, Quat::from_rotation_y(TAU * day / YEAR))?;
        h.set_rotation(self.moon_orbit, Quat::from_rotation_y(TAU * day / MONTH))?;
        // The orbit carries the earth round but must not turn it: the axis points at the same star all year, which
        // is what makes the seasons. This is a cabin on a big wheel, kept level in the world's frame.
        h.set_world_rotation(self.earth, Quat::IDENTITY)?;
        Ok(())
    }

    /// Lets a day go by for what spins freely. `rotate` adds to what is there, and normalises each time.
    fn spin_one_day(&mut self) -> Result<(), Error> {
        self.hierarchy.rotate(self.earth_spin, Quat::from_rotation_y(TAU / DAY), Space::Local)?;
        Ok(())
    }
}

/// The position in a world matrix: its last column. In float64, so that the checks below add no error of their own.
fn position(worlds: Worlds<'_>, id: NodeId) -> DVec3 {
    let [x, y, z] = worlds[id].map(|row| f64::from(row[3]));
    DVec3::new(x, y, z)
}

/// How far the distance between two places may be off, if they are `arm` apart, up to `far` from the origin, and
/// `levels` rotations turn the arm.
///
/// Each multiplies by the matrix of a unit quaternion. One whose squared length is off by `4 ε` makes columns
/// off by as much; that, the three roundings of each matrix element and the three of each product are at most
/// `11 ε` of the arm. The sum with the far position rounds once more, by `ε / 2` in each of three coordinates.
fn rounding(arm: f32, far: f32, levels: u16) -> f64 {
    let epsilon = f64::from(f32::EPSILON);
    let turned = 11.0 * f64::from(levels) * f64::from(arm);
    let moved = 0.5 * 3f64.sqrt() * f64::from(far);
    (turned + moved) * epsilon
}

/// Of the moon, by its angle from the sun as the earth sees it, counterclockwise.
fn phase(angle: f64) -> &'static str {
    const NAMES: [&str; 8] = [
        "new moon",
        "waxing crescent",
        "first quarter",
        "waxing gibbous",
        "full moon",
        "waning gibbous",
        "last quarter",
        "waning crescent",
    ];
    NAMES[(angle.to_degrees().rem_euclid(360.0) / 45.0).round() as usize % 8]
}

fn main() -> Result<(), Error> {
    let mut system = SolarSystem::new()?;
    // The arm to the earth is turned by its orbit; the arm to the moon by two orbits, a plane, and the earth itself.
    let earth_bound = rounding(EARTH_DISTANCE, 0.0, 1);
    let moon_bound = rounding(MOON_DISTANCE, EARTH_DISTANCE + MOON_DISTANCE, 4);
    let (mut earth_error, mut moon_error) = (0f64, 0f64);

    println!("unit: earth radii; sun at the origin; declination: latitude at which the sun is overhead\n");
    println!(" day   earth x       z    moon x      y       z   moon phase        declination");
    for day in 0..=DAYS_IN_YEAR {
        if day > 0 {
            system.spin_one_day()?;
        }
        system.set_day(day)?;

        // One update after all edits of the step; from here on a world is one load.
        let worlds = system.hierarchy.update();
        let sun = position(worlds, system.sun);
        let earth = position(worlds, system.earth);
        let moon = position(worlds, system.moon);

        earth_error = earth_error.max((earth.distance(sun) - f64::from(EARTH_DISTANCE)).abs());
        moon_error = moon_error.max((moon.distance(earth) - f64::from(MOON_DISTANCE)).abs());

        // `worlds` borrows the hierarchy until here. The getters below need no update; after one they are cheap.
        let h = &system.hierarchy;
        let axis = h.world_up(system.earth_axis)?.as_dvec3();
        let expected = Vec3::Y.rotate_z(-AXIAL_TILT.to_radians()).as_dvec3();
        assert!(axis.distance(expected) < 1e-6, "day {day}: the axis leans towards {axis}");
        assert!(h.world_up(system.earth_spin)?.as_dvec3().distance(axis) < 1e-6, "day {day}: the earth wobbles");
        // The moon hangs under its orbit pivot and turns with it: the earth always stands at the same place in
        // its sky.
        let earth_in_sky = h.world_to_local_point(system.moon, earth.as_vec3())?;
        assert!(earth_in_sky.abs_diff_eq(-MOON_DISTANCE * Vec3::X, 1e-4), "day {day}: {earth_in_sky}");

        if day % 28 == 0 || day == DAYS_IN_YEAR {
            let to_sun = (sun - earth).normalize();
            let to_moon = (moon - earth).normalize();
            let angle = to_sun.cross(to_moon).y.atan2(to_sun.dot(to_moon));
            let declination = axis.dot(to_sun).asin().to_degrees();
            println!(
                "{day:4}  {:8.3} {:7.3}  {:8.3} {:6.3} {:7.3}   {:16}  {declination:+10.2}°",
                earth.x,
                earth.z,
                moon.x,
                moon.y,
                moon.z,
                phase(angle)
            );
        }
    }

    println!("\nover the year:");
    println!("  earth to sun   off by at most {earth_error:.1e} (float32 allows {earth_bound:.1e})");
    println!("  moon to earth  off by at most {moon_error:.1e} (float32 allows {moon_bound:.1e})");
    assert!(earth_error <= earth_bound && moon_error <= moon_bound);

    // Each body has the scale that it was given, and no other.
    for (name, mesh, radius) in [
        ("sun", system.sun_mesh, SUN_RADIUS),
        ("earth", system.earth_mesh, EARTH_RADIUS),
        ("moon", system.moon_mesh, MOON_RADIUS),
    ] {
        let scale = system.hierarchy.world_scale(mesh)?;
        println!("  {name:5} has world scale {:.4}", scale.x);
        assert!(scale.abs_diff_eq(Vec3::splat(radius), 1e-5 * radius));
    }

    // The sun swells. Its mesh is a leaf: no other world changes by a single bit.
    let others = [system.sun, system.earth, system.earth_mesh, system.moon, system.moon_mesh];
    let worlds = system.hierarchy.update();
    let before = others.map(|id| worlds[id]);
    system.hierarchy.set_scale(system.sun_mesh, Vec3::splat(9.0 * SUN_RADIUS))?;
    let worlds = system.hierarchy.update();
    assert_eq!(before, others.map(|id| worlds[id]));
    println!("\nthe sun swells to {}: nothing else changed, to the bit", 9.0 * SUN_RADIUS);

    // And what happens without a leaf for the mesh: everything below inherits the scale, sizes and distances alike.
    let mut careless = Hierarchy::new();
    let sun = careless.add_root(Transform::from_uniform_scale(SUN_RADIUS))?;
    let earth = careless.add_child(sun, Transform::from_position(EARTH_DISTANCE * Vec3::X))?;
    let (distance, size) = (careless.world_position(earth)?.length(), careless.world_scale(earth)?.x);
    println!("hung under a scaled sun, the earth would be {distance} away and {size} large");
    assert_eq!((distance, size), (SUN_RADIUS * EARTH_DISTANCE, SUN_RADIUS));
    Ok(())
}
