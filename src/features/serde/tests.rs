use super::*;
use crate::features::proptest::{Edit, Shape, edits, hierarchies, rotations, transforms, vectors};
use crate::{ComponentHierarchy, Decomposed, Hierarchy, Transform};
use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
};
use glam::{Affine3A, Mat3A, Vec3A};
use proptest::prelude::*;
use serde_json::{Value, json};

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn refusal<T: DeserializeOwned + fmt::Debug>(json: &Value) -> String {
    serde_json::from_value::<T>(json.clone()).unwrap_err().to_string()
}

/// Everything that comes back: ids, parents, order, own values with the sign of zero, and which ids come next.
fn state<A: Stored>(h: &HierarchyOf<A>) -> String {
    let own = |(id, parent, own, inherit): (_, _, Own<A>, crate::Inherit)| {
        format!("{id:?} {parent:?} {:?} {:?} {inherit:?}\n", own.transform, own.matrix)
    };
    h.records().map(own).collect::<String>() + &format!("{:?}", h.spent_ids())
}

fn worlds<A: Stored>(mut h: HierarchyOf<A>) -> Vec<String> {
    let ids: Vec<_> = h.records().map(|(id, ..)| id).collect();
    let worlds = h.update();
    ids.iter().map(|&id| format!("{:?}", worlds[id])).collect()
}

fn by_text<A: Stored>(h: &HierarchyOf<A>) -> HierarchyOf<A> {
    serde_json::from_str(&to_json(h)).unwrap()
}

fn by_bytes<A: Stored>(h: &HierarchyOf<A>) -> HierarchyOf<A> {
    postcard::from_bytes(&postcard::to_allocvec(h).unwrap()).unwrap()
}

/// Matrices that a hierarchy takes but that are hard to take apart: flat, huge, tiny, and plain ones.
fn matrices() -> impl Strategy<Value = Affine3A> + Clone {
    let size = prop::sample::select(&[1.0, 1.0, 1e-30, 1e30, f32::MAX, f32::MIN_POSITIVE / 64.0][..]);
    let column = || (vectors(1.0), size.clone()).prop_map(|(v, size)| Vec3A::from(v) * size);
    let singular = prop::sample::select(&[0_u8, 0, 1, 2][..]);
    (column(), column(), column(), vectors(100.0), singular).prop_map(|(x, y, z, translation, singular)| {
        let (y, z) = match singular {
            0 => (y, z),
            1 => (x, z),
            _ => (y, Vec3A::ZERO),
        };
        Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: translation.into() }
    })
}

type Script = Vec<(Edit<Transform>, Option<(Affine3A, Option<Quat>)>)>;

/// Edits, and now and then a matrix, some turned after they were set.
fn scripts() -> impl Strategy<Value = Script> + Clone {
    let matrix = prop::option::weighted(0.2, (matrices(), prop::option::of(rotations())));
    prop::collection::vec((edits(transforms()), matrix), 0..25)
}

fn run<A: Stored<Transform = Transform, Affine = Affine3A, Rotation = Quat>>(
    h: &mut HierarchyOf<A>,
    script: &Script,
    seen: &mut Vec<NodeId>,
) {
    for (edit, matrix) in script {
        let _ = edit.apply(h);
        let last = h.records().last();
        if let (Some((id, ..)), Some((matrix, rotation))) = (last, matrix) {
            let _ = h.set_local_matrix(id, *matrix);
            let [position, turns, scale] = matrix.translation.to_array().map(|x| x < 50.0);
            let _ = h.set_inherit(id, crate::Inherit { position, rotation: turns, scale }, Keep::Local);
            if let Some(rotation) = rotation {
                let _ = h.set_rotation(id, *rotation);
            }
        }
        seen.extend(h.records().map(|(id, ..)| id));
    }
}

fn check_round_trip<A: Stored<Transform = Transform, Affine = Affine3A, Rotation = Quat>>(
    mut h: HierarchyOf<A>,
    before: &Script,
    after: &Script,
) -> Result<(), TestCaseError> {
    let mut seen = Vec::new();
    run(&mut h, before, &mut seen);
    for mut read in [by_text(&h), by_bytes(&h)] {
        read.assert_well_formed();
        prop_assert_eq!(state(&read), state(&h));
        prop_assert!(read.records().all(|(id, ..)| read.is_dirty(id).unwrap()));
        prop_assert_eq!(worlds(read.clone()), worlds(h.clone()));
        for id in &seen {
            prop_assert_eq!(read.contains(*id), h.contains(*id));
        }
        // From here on both go the same way, ids included.
        let mut other = h.clone();
        run(&mut read, after, &mut Vec::new());
        run(&mut other, after, &mut Vec::new());
        prop_assert_eq!(state(&read), state(&other));
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_comes_back_is_what_went_in(
        matrices in hierarchies::<Matrices>(Shape::Random, 0..10, transforms()),
        components in hierarchies::<Components>(Shape::Random, 0..10, transforms()),
        before in scripts(),
        after in scripts(),
    ) {
        check_round_trip(matrices, &before, &after)?;
        check_round_trip(components, &before, &after)?;
    }

    #[test]
    fn values_come_back(t in transforms(), shear in vectors(10.0), id in (any::<u32>(), any::<u32>())) {
        let d = Decomposed { transform: t, shear };
        let id = NodeId::new(id.0, id.1 | 1).unwrap();
        prop_assert_eq!(serde_json::from_str::<Decomposed>(&to_json(&d)).unwrap(), d);
        prop_assert_eq!(serde_json::from_str::<NodeId>(&to_json(&id)).unwrap(), id);
        let bytes = postcard::to_allocvec(&(d, id)).unwrap();
        prop_assert_eq!(postcard::from_bytes::<(Decomposed, NodeId)>(&bytes).unwrap(), (d, id));
    }
}

#[test]
fn the_text_is_the_documented_one() {
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::from_position(Vec3::new(1.0, -0.0, 0.1))).unwrap();
    let gone = h.add_root(Transform::IDENTITY).unwrap();
    let child = h.add_child(root, Transform::IDENTITY).unwrap();
    h.set_local_matrix(child, Affine3A::from_translation(Vec3::Z)).unwrap();
    h.remove_subtree(gone).unwrap();
    let expected = concat!(
        r#"{"version":1,"kind":"matrices","nodes":["#,
        r#"{"id":"0v1","local":{"position":[1.0,-0.0,0.1],"rotation":[0.0,0.0,0.0,1.0],"scale":[1.0,1.0,1.0]}},"#,
        r#"{"id":"2v1","parent":"0v1","#,
        r#""local":{"position":[0.0,0.0,1.0],"rotation":[0.0,0.0,0.0,1.0],"scale":[1.0,1.0,1.0]},"#,
        r#""matrix":[1.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,1.0,0.0,0.0,1.0]}"#,
        r#"],"removed":["1v1"]}"#
    );
    assert_eq!(to_json(&h), expected);
    assert_eq!(to_json(&ComponentHierarchy::new()), r#"{"version":1,"kind":"components","nodes":[],"removed":[]}"#);
    assert_eq!(to_json(&(Keep::WorldTrs, Space::Parent)), r#"["WorldTrs","Parent"]"#);
    assert_eq!(serde_json::from_str::<[Keep; 2]>(r#"["Local","World"]"#).unwrap(), [Keep::Local, Keep::World]);
    assert_eq!(serde_json::from_str::<[Space; 2]>(r#"["Local","World"]"#).unwrap(), [Space::Local, Space::World]);
    // Ids are keys too.
    let map = BTreeMap::from([(root, "root"), (child, "child")]);
    assert_eq!(to_json(&map), r#"{"0v1":"root","2v1":"child"}"#);
    assert_eq!(serde_json::from_str::<BTreeMap<NodeId, &str>>(&to_json(&map)).unwrap(), map);
}

#[test]
fn missing_parts_are_the_identity_and_misspelt_ones_are_refused() {
    let t: Transform = serde_json::from_str(r#"{"position":[1,2,3]}"#).unwrap();
    assert_eq!(t, Transform::from_position(Vec3::new(1.0, 2.0, 3.0)));
    assert!(refusal::<Transform>(&json!({"postion": [1, 2, 3]})).starts_with("unknown field `postion`"));
    assert!(refusal::<Decomposed>(&json!({"transform": {}})).starts_with("missing field `shear`"));
}

#[test]
fn an_id_that_no_node_can_have_is_refused() {
    for text in
        ["", "v", "3", "3v", "v1", "3v0", "3v2", "+3v1", "03v1", "3v01", "3v1 ", "-1v1", "3v1v1", "4294967296v1"]
    {
        let expected = format!("invalid value: string {text:?}, expected the id of a node, such as \"3v1\"");
        assert_eq!(refusal::<NodeId>(&json!(text)), expected);
    }
    // Of a free slot this is the generation, and such an id would count as valid.
    for generation in [0_u32, 2, u32::MAX - 1] {
        let bytes = postcard::to_allocvec(&(3_u32, generation)).unwrap();
        assert!(postcard::from_bytes::<NodeId>(&bytes).is_err());
    }
}

/// A root 0v1 with a child 1v1.
fn valid() -> Value {
    json!({
        "version": 1,
        "kind": "matrices",
        "nodes": [{"id": "0v1", "local": {}}, {"id": "1v1", "parent": "0v1", "local": {}}],
        "removed": []
    })
}

/// The refusal where one value of that file is another.
fn refused(pointer: &str, value: Value) -> String {
    let mut json = valid();
    match json.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (above, name) = pointer.rsplit_once('/').unwrap();
            json.pointer_mut(above).unwrap()[name] = value;
        }
    }
    refusal::<Hierarchy>(&json)
}

#[test]
fn each_refusal_names_its_node() {
    assert!(serde_json::from_value::<Hierarchy>(valid()).is_ok());
    // Before what this version does not know.
    let other = serde_json::from_str::<Hierarchy>(r#"{"version":2,"tree":[]}"#).unwrap_err().to_string();
    assert!(other.starts_with("this reads version 1 of the format, not 2"), "{other}");
    let other_kind = "invalid value: string \"matrices\", expected \"components\"";
    assert_eq!(refusal::<ComponentHierarchy>(&valid()), other_kind);

    assert_eq!(refused("/nodes/1/id", json!("0v1")), "the slot of 0v1 is listed twice");
    assert_eq!(refused("/nodes/1/id", json!("0v3")), "the slot of 0v3 is listed twice");
    let beyond = "2v1 names slot 2 of 2; list every slot, with its node or as removed";
    assert_eq!(refused("/nodes/1/id", json!("2v1")), beyond);
    assert_eq!(refused("/removed", json!(["1v1"])), "the slot of 1v1 is listed twice");
    let beyond = "4294967295v1 names slot 4294967295 of 3; list every slot, with its node or as removed";
    assert_eq!(refused("/removed", json!(["4294967295v1"])), beyond);

    for parent in ["9v1", "0v3", "4294967295v1"] {
        let expected = format!("1v1 hangs under {parent}, which is not listed");
        assert_eq!(refused("/nodes/1/parent", json!(parent)), expected);
    }
    assert_eq!(refused("/nodes/1/parent", json!("1v1")), "1v1 is its own ancestor, or below one that is");
    assert_eq!(refused("/nodes/0/parent", json!("1v1")), "0v1 is its own ancestor, or below one that is");

    let cannot = "1v1 cannot hold its local value: ";
    let infinite = format!("{cannot}a number is infinite or NaN; pass finite numbers");
    assert_eq!(refused("/nodes/1/local", json!({"position": [0, 1e39, 0]})), infinite);
    assert_eq!(refused("/nodes/1/local", json!({"scale": [0, 0, -1e39]})), infinite);
    assert_eq!(refused("/nodes/1/local", json!({"rotation": [0, 1e39, 0, 0]})), infinite);
    let stretched = refused("/nodes/1/local", json!({"rotation": [0, 0, 0, 2]}));
    assert_eq!(stretched, format!("{cannot}a quaternion of length 2 is not a rotation; normalize it first"));

    let columns = |x: f64| json!([x, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(refused("/nodes/1/matrix", columns(1e39)), infinite);
    let other = "position, rotation and scale of 1v1 are not those of its matrix";
    assert_eq!(refused("/nodes/1/matrix", columns(1.01)), other);
    assert_eq!(refused("/nodes/1/matrix", json!([0, 1, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0])), other);
    assert_eq!(refused("/nodes/1/matrix", json!([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0.0001])), other);

    let mut components = valid();
    components["kind"] = json!("components");
    components["nodes"][1]["matrix"] = columns(1.0);
    let none = "1v1 holds a matrix, which a hierarchy of components does not";
    assert_eq!(refusal::<ComponentHierarchy>(&components), none);
    components["nodes"][1]["matrix"][3] = json!(0.5);
    assert_eq!(refusal::<ComponentHierarchy>(&components), none);
}

/// A format that holds every number.
#[test]
fn what_is_no_number_is_refused_in_every_place() {
    let mut h = Hierarchy::new();
    let markers = [Vec3::new(12345.0, 1.0, 1.0), Vec3::new(1.0, 12345.0, 1.0), Vec3::new(1.0, 1.0, 12345.0)];
    for marked in markers {
        h.add_root(Transform::from_position(marked)).unwrap();
        h.add_root(Transform::from_scale(marked)).unwrap();
    }
    let id = h.add_root(Transform::IDENTITY).unwrap();
    h.set_local_matrix(id, Affine3A::from_scale(markers[0])).unwrap();
    let bytes = postcard::to_allocvec(&h).unwrap();
    let marker = 12345.0_f32.to_le_bytes();
    let places: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&marker)).collect();
    assert_eq!(places.len(), 8, "six, and scale and matrix of the last");
    for at in places {
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut bytes = bytes.clone();
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            assert!(postcard::from_bytes::<Hierarchy>(&bytes).is_err());
        }
    }
}

#[test]
fn nodes_may_be_listed_in_any_order() {
    let json = json!({
        "version": 1,
        "kind": "components",
        "nodes": [
            {"id": "3v1", "parent": "1v5", "local": {"position": [1, 0, 0]}},
            {"id": "0v1", "parent": "3v1", "local": {"position": [1, 0, 0]}},
            {"id": "4v3", "local": {}},
            {"id": "1v5", "parent": "4v3", "local": {"position": [1, 0, 0]}},
            {"id": "5v1", "local": {}},
            {"id": "2v1", "parent": "4v3", "local": {}}
        ],
        "removed": ["7v1", "6v3"]
    });
    let mut h: ComponentHierarchy = serde_json::from_value(json).unwrap();
    h.assert_well_formed();
    let expected = "\
4v3 (0, 0, 0) dirty
├── 1v5 (1, 0, 0) dirty
│   └── 3v1 (2, 0, 0) dirty
│       └── 0v1 (3, 0, 0) dirty
└── 2v1 (0, 0, 0) dirty
5v1 (0, 0, 0) dirty";
    assert_eq!(format!("{h:.0}"), expected);
    let next: Vec<_> = (0..3).map(|_| format!("{:?}", h.add_root(Transform::IDENTITY).unwrap())).collect();
    assert_eq!(next, ["7v3", "6v5", "8v1"]);
}

#[test]
fn a_slot_that_is_used_up_stays_so() {
    let mut json = valid();
    json["nodes"][1]["id"] = json!("1v4294967295");
    let mut h: Hierarchy = serde_json::from_value(json).unwrap();
    let last = NodeId::new(1, u32::MAX).unwrap();
    assert!(h.contains(last));
    h.remove_subtree(last).unwrap();
    for mut h in [by_text(&h), by_bytes(&h), h] {
        h.assert_well_formed();
        assert_eq!(format!("{:?}", h.spent_ids()), "[1v4294967295]");
        assert_eq!(format!("{:?}", h.add_root(Transform::IDENTITY).unwrap()), "2v1");
        assert!(!h.contains(last));
        h.assert_well_formed();
    }
}

/// Its ids were promised to nobody else, and nobody can bring them back in another hierarchy.
#[test]
fn what_was_taken_out_is_saved_as_removed() {
    let mut h = Hierarchy::new();
    let root = h.add_root(Transform::IDENTITY).unwrap();
    let free = h.add_root(Transform::IDENTITY).unwrap();
    let taken = h.add_child(root, Transform::IDENTITY).unwrap();
    h.remove_subtree(free).unwrap();
    let subtree = h.take_subtree(taken).unwrap();
    for mut read in [by_text(&h), by_bytes(&h)] {
        read.assert_well_formed();
        assert_eq!(format!("{:?}", read.spent_ids()), "[1v1, 2v1]");
        let next: Vec<_> = (0..3).map(|_| format!("{:?}", read.add_root(Transform::IDENTITY).unwrap())).collect();
        assert_eq!(next, ["1v3", "2v3", "3v1"]);
        assert!(!read.contains(taken));
    }
    // Saving takes nothing away.
    h.restore(subtree).unwrap();
    assert!(h.contains(taken));
}

/// Double precision and the plane have formats of their own, of the same make.
#[test]
fn every_way_to_accumulate_comes_back() {
    fn check<A: Stored>(local: A::Transform, matrix: &Value, kind: &str) {
        let mut h = HierarchyOf::<A>::new();
        let root = h.add_root(local).unwrap();
        let child = h.add_child(root, local).unwrap();
        // Sheared where there are matrices, and refused where not.
        let matrix: A::Affine = serde_json::from_value(matrix.clone()).unwrap();
        let sheared = h.set_local_matrix(child, matrix).is_ok();
        assert_eq!(sheared, kind.starts_with("matrices"));
        let json = to_json(&h);
        assert!(json.starts_with(&format!(r#"{{"version":1,"kind":"{kind}","#)), "{json}");
        assert_eq!(json.contains("matrix\":"), sheared);
        assert_eq!(state(&by_text(&h)), state(&h));
        assert_eq!(state(&by_bytes(&h)), state(&h));
        let refused = serde_json::from_str::<HierarchyOf<A>>(&json.replace(kind, "strings")).unwrap_err().to_string();
        assert!(refused.contains(&format!("expected \"{kind}\"")), "{refused}");
        if sheared {
            let mut json: Value = serde_json::from_str(&json).unwrap();
            json["nodes"][1]["matrix"][0] = json!(3);
            let other = "position, rotation and scale of 1v1 are not those of its matrix";
            assert_eq!(refusal::<HierarchyOf<A>>(&json), other);
        }
    }
    let t = Transform::new(Vec3::new(0.1, 0.2, 0.3), Quat::from_rotation_y(0.7), Vec3::new(1.0, -2.0, 0.5));
    let plane = crate::Transform2::new(Vec2::new(0.1, 0.2), 0.7, Vec2::new(1.0, -2.0));
    let sheared = json!([1, 0, 0, 0.5, 1, 0, 0, 0, 1, 0.1, 0, 0]);
    let sheared_plane = json!([1, 0, 0.5, 1, 0.1, 0]);
    check::<Matrices>(t, &sheared, "matrices");
    check::<Components>(t, &sheared, "components");
    check::<DMatrices>(t.as_dtransform(), &sheared, "matrices, f64");
    check::<DComponents>(t.as_dtransform(), &sheared, "components, f64");
    check::<Matrices2>(plane, &sheared_plane, "matrices, 2D");
    check::<Components2>(plane, &sheared_plane, "components, 2D");
    check::<DMatrices2>(plane.as_dtransform2(), &sheared_plane, "matrices, 2D, f64");
    check::<DComponents2>(plane.as_dtransform2(), &sheared_plane, "components, 2D, f64");
}

#[test]
fn values_by_node_come_back() {
    let ids = [(3, 1), (0, 5), (7, u32::MAX)].map(|(slot, generation)| NodeId::new(slot, generation).unwrap());
    let map: NodeMap<u8> = ids.into_iter().zip(1..).collect();
    assert_eq!(to_json(&map), r#"{"0v5":2,"3v1":1,"7v4294967295":3}"#);
    assert_eq!(serde_json::from_str::<NodeMap<u8>>(&to_json(&map)).unwrap(), map);
    assert_eq!(postcard::from_bytes::<NodeMap<u8>>(&postcard::to_allocvec(&map).unwrap()).unwrap(), map);
    for (twice, id) in
        [(r#"{"3v1":1,"3v1":1}"#, "3v1"), (r#"{"3v1":1,"3v5":1}"#, "3v5"), (r#"{"3v5":1,"3v1":1}"#, "3v1")]
    {
        let message = serde_json::from_str::<NodeMap<u8>>(twice).unwrap_err().to_string();
        assert!(message.starts_with(&format!("the slot of {id} is listed twice")), "{message}");
    }
    assert!(refusal::<NodeMap<u8>>(&json!({"3v2": 1})).starts_with("invalid value: string \"3v2\""));
}

/// A matrix alone does not tell which of its axes was turned to nothing, and where a column is longer than
/// any scale its parts are not it.
#[test]
fn matrices_keep_how_they_were_taken_apart() {
    let mut h = Hierarchy::new();
    let id = h.add_root(Transform::from_scale(Vec3::new(-1.0, -1.0, 1.0))).unwrap();
    let sheared = Affine3A::from_mat3(glam::Mat3::from_cols(Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::Z));
    h.set_local_matrix(id, sheared).unwrap();
    h.set_rotation(id, Quat::from_rotation_y(1.0)).unwrap();
    h.set_scale(id, Vec3::new(0.0, 0.0, -2.0)).unwrap();
    assert!(!h.is_trs(id).unwrap());
    let mut anew = h.clone();
    anew.set_local_matrix(id, h.local_matrix(id).unwrap()).unwrap();
    assert_ne!(anew.rotation(id), h.rotation(id));
    let huge = h.add_root(Transform::IDENTITY).unwrap();
    let long = Vec3::splat(f32::MAX);
    let columns = glam::Mat3::from_cols(long, long * Vec3::new(1.0, -1.0, 1.0), Vec3::Z);
    h.set_local_matrix(huge, Affine3A::from_mat3(columns)).unwrap();
    assert_eq!(h.scale(huge).unwrap().x.abs(), f32::MAX);
    assert_eq!(state(&by_text(&h)), state(&h));
    assert_eq!(state(&by_bytes(&h)), state(&h));
}

#[test]
fn a_deep_chain_needs_no_stack() {
    const DEPTH: usize = 200_000;
    let mut h = Hierarchy::new();
    let parents: Vec<_> = (0..DEPTH).map(|n| n.checked_sub(1)).collect();
    h.extend(None, &parents, &vec![Transform::from_position(Vec3::X); DEPTH]).unwrap();
    for read in [by_text(&h), by_bytes(&h)] {
        let deepest = read.records().last().unwrap().0;
        assert_eq!(read.depth(deepest), Ok(DEPTH - 1));
        assert_eq!(read.world_position(deepest).unwrap().x, DEPTH as f32);
    }
}

/// A few bytes that claim a great many entries.
#[test]
fn a_claimed_length_is_not_believed() {
    let mut bytes = postcard::to_allocvec(&(1_u32, "matrices")).unwrap();
    bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert!(postcard::from_bytes::<Hierarchy>(&bytes).is_err());
}

/// Every value of the file, depth first.
fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, field)| pointers(field, format!("{at}/{key}"), all)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, format!("{at}/{index}"), all));
        }
        _ => {}
    }
    all.push(at);
}

/// Values such as the file holds, and such as it must not.
fn replacements() -> impl Strategy<Value = Value> {
    let id = (0_u32..7, prop::sample::select(&[1, 1, 1, 2, 3, u32::MAX][..]));
    let number = prop::sample::select(&[0.0, -0.0, 1.0, -1.0, 1.0001, 1e-40, 1e38, -1e38, 1e39, 1e300][..]);
    prop_oneof![
        4 => id.prop_map(|(slot, generation)| json!(format!("{slot}v{generation}"))),
        1 => Just(json!("4294967295v1")),
        3 => number.prop_map(|number| json!(number)),
        1 => any::<u64>().prop_map(|number| json!(number)),
        1 => rotations().prop_map(|q| json!(q.to_array())),
        1 => vectors(2.0).prop_map(|v| json!(v.to_array())),
        1 => Just(Value::Null),
        1 => Just(json!([])),
        1 => Just(json!({})),
        1 => Just(json!([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])),
    ]
}

/// What is read is well formed and comes back, or it is refused.
fn check_read(h: Option<Hierarchy>) -> Result<(), TestCaseError> {
    if let Some(h) = h {
        h.assert_well_formed();
        prop_assert_eq!(state(&by_text(&h)), state(&h));
        prop_assert_eq!(state(&by_bytes(&h)), state(&h));
        prop_assert_eq!(worlds(h.clone()).len(), h.len());
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_file_with_other_values_is_refused_or_well_formed(
        mut h in hierarchies::<Matrices>(Shape::Random, 1..6, transforms()),
        script in scripts(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<Option<prop::sample::Index>>(), replacements()), 1..4),
    ) {
        run(&mut h, &script, &mut Vec::new());
        let mut json = serde_json::to_value(&h).unwrap();
        for (place, from, new) in changes {
            let mut all = Vec::new();
            pointers(&json, String::new(), &mut all);
            // A value of its own, or one from elsewhere in the file.
            let new = from.map_or(new, |from| json.pointer(&all[from.index(all.len())]).unwrap().clone());
            *json.pointer_mut(&all[place.index(all.len())]).unwrap() = new;
        }
        check_read(serde_json::from_value(json).ok())?;
    }

    #[test]
    fn a_file_with_other_bytes_is_refused_or_well_formed(
        mut h in hierarchies::<Matrices>(Shape::Random, 1..6, transforms()),
        script in scripts(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, any::<Vec<u8>>()), 1..4),
    ) {
        run(&mut h, &script, &mut Vec::new());
        let (mut text, mut bytes) = (to_json(&h).into_bytes(), postcard::to_allocvec(&h).unwrap());
        for (place, length, new) in &changes {
            for file in [&mut text, &mut bytes] {
                let start = place.index(file.len() + 1);
                let end = (start + length).min(file.len());
                file.splice(start..end, new.iter().copied().take(3));
            }
        }
        check_read(serde_json::from_slice(&text).ok())?;
        check_read(postcard::from_bytes(&bytes).ok())?;
    }
}
