//! Expectations: what is compared, and how each is falsified.

use crate::subject::{Matrix, Subject, Trs, compose};
use posetree::NodeId;
use serde_json::{Value, json};

/// Per column: `max|got - want| <= tol * max(floor, max|want|)`, as the format says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) tol: f64,
    pub(crate) floor: f64,
}

/// A number, which may be given as the text NaN, inf or -inf.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().expect("a float64 number"),
        Value::String(text) => text.parse().unwrap_or_else(|_| panic!("{text} is no number")),
        _ => panic!("{value} is no number"),
    }
}

pub(crate) fn array<const N: usize>(value: &Value) -> [f64; N] {
    let list = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    let numbers: Vec<f64> = list.iter().map(number).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{value} has not {N} numbers"))
}

pub(crate) fn trs(value: &Value) -> Trs {
    let part = |name: &str| value.get(name).filter(|part| !part.is_null());
    Trs {
        position: part("position").map_or([0.0; 3], array),
        rotation: part("rotation").map_or([0.0, 0.0, 0.0, 1.0], array),
        scale: part("scale").map_or([1.0; 3], array),
    }
}

fn close(what: &str, got: &[f64], want: &[f64], Tolerance { tol, floor }: Tolerance) -> Result<(), String> {
    let size = want.iter().fold(floor, |size, x| size.max(x.abs()));
    for (got, want) in got.iter().zip(want) {
        // Not `> tol`: NaN is not close.
        let is_close = (got - want).abs() <= tol * size;
        if !is_close {
            return Err(format!("{what}: got {got}, want {want} (tolerance {:e})", tol * size));
        }
    }
    Ok(())
}

fn close_matrix(got: &Matrix, want: &Matrix, tolerance: Tolerance) -> Result<(), String> {
    for column in 0..4 {
        let pick = |m: &Matrix| [m[column], m[4 + column], m[8 + column]];
        close(&format!("column {column}"), &pick(got), &pick(want), tolerance)?;
    }
    close("last row", &got[12..], &want[12..], tolerance)
}

fn close_rotation(got: [f64; 4], want: [f64; 4], tolerance: Tolerance) -> Result<(), String> {
    let dot: f64 = got.iter().zip(want).map(|(a, b)| a * b).sum();
    let want = if dot < 0.0 { want.map(|x| -x) } else { want };
    close("rotation", &got, &want, tolerance)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: got {got:?}, want {want:?}")) }
}

/// Checks an expectation on the state as it is. `None` if the op is not one.
pub(crate) fn check<S: Subject>(
    h: &S,
    step: &Value,
    tolerance: Tolerance,
    node: impl Fn(&Value) -> Result<NodeId, String>,
) -> Option<Result<(), String>> {
    let op = step["op"].as_str()?;
    let or_none = |value: &Value| if value.is_null() { Ok(None) } else { node(value).map(Some) };
    let text = |error: posetree::Error| error.to_string();
    let vector = |name: &str| array::<3>(&step[name]);
    let result = || -> Result<(), String> {
        let id = || node(&step["node"]);
        match op {
            "expect_world" => close_matrix(&h.world_matrix(id()?).map_err(text)?, &array(&step["matrix"]), tolerance),
            "expect_local" => close_matrix(&h.local_matrix(id()?).map_err(text)?, &array(&step["matrix"]), tolerance),
            "expect_trs" => {
                let (got, want) = (h.local(id()?).map_err(text)?, trs(&step["trs"]));
                close("position", &got.position, &want.position, tolerance)?;
                close("scale", &got.scale, &want.scale, tolerance)?;
                close_rotation(got.rotation, want.rotation, tolerance)
            }
            "expect_trs_matrix" => {
                let got = h.local(id()?).map_err(text)?;
                let length: f64 = got.rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
                close("length of the quaternion", &[length], &[1.0], tolerance)?;
                close_matrix(&compose(&got), &array(&step["matrix"]), tolerance)
            }
            "expect_world_point" => {
                close("point", &h.world_point(id()?, vector("local")).map_err(text)?, &vector("world"), tolerance)
            }
            "expect_world_vector" => {
                close("vector", &h.world_vector(id()?, vector("local")).map_err(text)?, &vector("world"), tolerance)
            }
            "expect_world_direction" => {
                let got = h.world_direction(id()?, vector("local")).map_err(text)?;
                close("direction", &got, &vector("world"), tolerance)
            }
            "expect_world_normal" => {
                close("normal", &h.world_normal(id()?, vector("local")).map_err(text)?, &vector("world"), tolerance)
            }
            "expect_local_point" => {
                close("point", &h.local_point(id()?, vector("world")).map_err(text)?, &vector("local"), tolerance)
            }
            "expect_axis_lengths" => {
                let m = h.world_matrix(id()?).map_err(text)?;
                let lengths = [0, 1, 2].map(|c| (m[c] * m[c] + m[4 + c] * m[4 + c] + m[8 + c] * m[8 + c]).sqrt());
                close("lengths", &lengths, &vector("lengths"), tolerance)
            }
            "expect_mirrored" => {
                same("mirrored", Some(h.is_mirrored(id()?).map_err(text)?), step["mirrored"].as_bool())
            }
            "expect_between" => {
                let got = h.between(node(&step["from"])?, node(&step["to"])?).map_err(text)?;
                close_matrix(&got, &array(&step["matrix"]), tolerance)
            }
            "expect_children" => {
                let names = step["children"].as_array().ok_or("children is no list")?;
                let want = names.iter().map(&node).collect::<Result<Vec<_>, _>>()?;
                same("children", h.children(or_none(&step["node"])?).map_err(text)?, want)
            }
            "expect_parent" => same("parent", h.parent(id()?).map_err(text)?, or_none(&step["parent"])?),
            "expect_alive" => same("alive", Some(h.contains(id()?)), step["alive"].as_bool()),
            "expect_count" => same("count", Some(h.len() as u64), step["count"].as_u64()),
            "expect_finite" => {
                for name in step["nodes"].as_array().ok_or("nodes is no list")? {
                    let id = node(name)?;
                    let both = [h.local_matrix(id).map_err(text)?, h.world_matrix(id).map_err(text)?];
                    same("finite", both.iter().flatten().all(|x| x.is_finite()), true)?;
                }
                Ok(())
            }
            "expect_local_max" => {
                let max = number(&step["max"]);
                let local = h.local_matrix(id()?).map_err(text)?;
                same("within the bound", local.iter().all(|x| x.abs() <= max), true)
            }
            _ => Err(format!("unknown op {op}")),
        }
    };
    op.starts_with("expect_").then(result)
}

/// The expectation with one of its values changed, for each value that it carries.
pub(crate) fn falsified(step: &Value, Tolerance { tol, floor }: Tolerance) -> Vec<Value> {
    let mut all = Vec::new();
    for key in ["matrix", "world", "lengths"] {
        // Where the world point is what is given, the local one is what is expected.
        let key = if step["op"] == "expect_local_point" && key == "world" { "local" } else { key };
        if let Some(list) = step[key].as_array() {
            falsify_list(step, &format!("/{key}"), list, tol, floor, &mut all);
        }
    }
    for part in ["position", "rotation", "scale"] {
        if let (true, Some(list)) = (step["op"] == "expect_trs", step["trs"][part].as_array()) {
            falsify_list(step, &format!("/trs/{part}"), list, tol, floor, &mut all);
        }
    }
    let mut put = |pointer: &str, value: Value| {
        let mut changed = step.clone();
        *changed.pointer_mut(pointer).expect("the value is there") = value;
        all.push(changed);
    };
    for flag in ["mirrored", "alive"] {
        if let Some(value) = step[flag].as_bool() {
            put(&format!("/{flag}"), json!(!value));
        }
    }
    if let Some(count) = step["count"].as_u64() {
        put("/count", json!(count + 1));
    }
    if step["max"].is_number() {
        put("/max", json!(-1.0));
    }
    if step["op"] == "expect_parent" {
        // Nothing is its own parent.
        put("/parent", step["node"].clone());
    }
    if let Some(children) = step["children"].as_array() {
        let mut longer = children.clone();
        longer.push(children.first().cloned().unwrap_or(Value::Null));
        put("/children", json!(longer));
        if children.len() > 1 {
            put("/children", json!(children.iter().rev().collect::<Vec<_>>()));
        }
    }
    all
}

fn falsify_list(step: &Value, pointer: &str, list: &[Value], tol: f64, floor: f64, all: &mut Vec<Value>) {
    let size = list.iter().map(number).fold(floor, |size, x| size.max(x.abs()));
    for (index, value) in list.iter().enumerate() {
        let mut changed = step.clone();
        // The right value may be off by one tolerance, and a larger element allows a larger one.
        let wrong = number(value) + 4.0 * tol.max(1e-15) * size;
        *changed.pointer_mut(&format!("{pointer}/{index}")).expect("the value is there") = json!(wrong);
        all.push(changed);
    }
}
