//! Replays the steps of a case.

use crate::expect::{self, Tolerance, array, number, trs};
use crate::subject::Subject;
use posetree::{Error, Keep, NodeId, Space};
use serde_json::Value;
use std::collections::HashMap;

/// Whether to check as well that every expectation fails once a value in it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Falsify {
    No,
    Yes,
}

/// Runs a case, and returns how many expectations that carry a value were executed, errors aside.
pub(crate) fn run<S: Subject>(case: &Value, falsify: Falsify) -> Result<usize, String> {
    let mut runner = Runner { h: S::new(), names: HashMap::new(), case, falsify, executed: 0 };
    runner.steps(&case["steps"], &[])?;
    runner.h.assert_well_formed();
    Ok(runner.executed)
}

struct Runner<'a, S> {
    h: S,
    names: HashMap<String, NodeId>,
    case: &'a Value,
    falsify: Falsify,
    executed: usize,
}

/// A node as it stands: id, parent, children, and the bits of its local and world matrix.
type Seen = (NodeId, Option<NodeId>, Vec<NodeId>, [u64; 16], [u64; 16]);

/// What an op did: nothing wrong, an error of the crate, or a defect of the case.
type Outcome = Result<Result<(), Error>, String>;

impl<S: Subject> Runner<'_, S> {
    fn steps(&mut self, steps: &Value, variables: &[(String, i64)]) -> Result<(), String> {
        for (index, step) in steps.as_array().ok_or("steps is no list")?.iter().enumerate() {
            self.step(step, variables).map_err(|failure| format!("step {index} {}: {failure}", step["op"]))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Value, variables: &[(String, i64)]) -> Result<(), String> {
        match step["op"].as_str().ok_or("a step without an op")? {
            "repeat" => {
                for _ in 0..step["times"].as_u64().ok_or("times is no count")? {
                    self.steps(&step["steps"], variables)?;
                }
                Ok(())
            }
            "for" => {
                let bound = |name: &str| step[name].as_i64().ok_or(format!("{name} is no whole number"));
                let (mut at, to, by) = (bound("from")?, bound("to")?, bound("by")?);
                let name = step["var"].as_str().ok_or("var is no name")?;
                while if by > 0 { at < to } else { at > to } {
                    let mut inner = variables.to_vec();
                    inner.push((name.to_string(), at));
                    self.steps(&step["steps"], &inner)?;
                    at += by;
                }
                Ok(())
            }
            "try" => match self.op(&step["of"], variables)? {
                Ok(()) => self.steps(&step["then"], variables),
                Err(_) => self.steps(&step["else"], variables),
            },
            "expect_error" => self.expect_error(step, variables),
            op if op.starts_with("expect_") => self.expect(step, variables),
            _ => match self.op(step, variables)? {
                Ok(()) => Ok(()),
                Err(error) => Err(format!("refused: {error}")),
            },
        }
    }

    /// The file's tolerance. Where that is one or more, which compares nothing, the file says what a
    /// hierarchy reaches that goes through the common ancestor, as this one does.
    fn tolerance(&self, step: &Value) -> Tolerance {
        let from = |key: &str| [step, self.case].into_iter().find_map(|place| place.get(key)).map(number);
        let tol = from(S::TOLERANCE).expect("a case has tolerances");
        let tol = if tol < 1.0 { tol } else { from("ideal_tol").unwrap_or(tol) };
        Tolerance { tol, floor: from("floor").unwrap_or(1.0) }
    }

    fn expect(&mut self, step: &Value, variables: &[(String, i64)]) -> Result<(), String> {
        let tolerance = self.tolerance(step);
        let check = |step: &Value| {
            let node = |name: &Value| self.node(name, variables);
            expect::check(&self.h, step, tolerance, node).ok_or("not an expectation".to_string())?
        };
        check(step)?;
        let mut carries_a_value = false;
        if self.falsify == Falsify::Yes {
            for wrong in expect::falsified(step, tolerance) {
                carries_a_value = true;
                if check(&wrong).is_ok() {
                    return Err(format!("passes although it was falsified: {wrong}"));
                }
            }
        }
        self.executed += usize::from(carries_a_value || self.falsify == Falsify::No);
        Ok(())
    }

    fn expect_error(&mut self, step: &Value, variables: &[(String, i64)]) -> Result<(), String> {
        let before = self.snapshot();
        let error = match self.op(&step["of"], variables)? {
            Ok(()) => return Err(format!("no error, want {}", step["kind"])),
            Err(error) => error,
        };
        if self.snapshot() != before {
            return Err(format!("{error}: refused, and something changed"));
        }
        self.h.assert_well_formed();
        let kind = format!("{error:?}");
        let kind = kind.split('(').next().unwrap_or_default();
        // Any other kind would have to fail, and does, because kinds are compared as a whole.
        if step["kind"] == kind { Ok(()) } else { Err(format!("{error}: {kind}, want {}", step["kind"])) }
    }

    /// Parent, child order, local and world of every live node, bit for bit.
    fn snapshot(&self) -> Vec<Seen> {
        let bits = |m: Result<[f64; 16], Error>| m.expect("a live node").map(f64::to_bits);
        let ids = self.h.ids().into_iter();
        ids.map(|id| {
            let children = self.h.children(Some(id)).expect("a live node");
            let parent = self.h.parent(id).expect("a live node");
            (id, parent, children, bits(self.h.local_matrix(id)), bits(self.h.world_matrix(id)))
        })
        .collect()
    }

    /// A name with the variables of the loops around it put in: `{i}` and `{i-1}`.
    fn name(&self, value: &Value, variables: &[(String, i64)]) -> Result<String, String> {
        let mut name = value.as_str().ok_or(format!("{value} is no name"))?.to_string();
        for (variable, at) in variables {
            name = name.replace(&format!("{{{variable}}}"), &at.to_string());
            name = name.replace(&format!("{{{variable}-1}}"), &(at - 1).to_string());
        }
        Ok(name)
    }

    fn node(&self, value: &Value, variables: &[(String, i64)]) -> Result<NodeId, String> {
        let name = self.name(value, variables)?;
        self.names.get(&name).copied().ok_or(format!("no node {name}"))
    }

    /// The table of ops and doors.
    fn op(&mut self, step: &Value, variables: &[(String, i64)]) -> Outcome {
        let op = step["op"].as_str().ok_or("a step without an op")?;
        if op == "update" {
            self.h.update();
            return Ok(Ok(()));
        }
        if op == "add" {
            return self.add(step, variables);
        }
        let known = [
            "alias",
            "set_local",
            "set_local_matrix",
            "set_local_position",
            "set_local_rotation",
            "set_local_scale",
            "set_world",
            "set_world_position",
            "set_world_rotation",
            "set_parent",
            "remove_subtree",
            "remove_and_promote",
            "translate",
            "rotate",
            "look_at",
            "read_trs",
        ];
        if !known.contains(&op) {
            return Err(format!("unknown op {op}"));
        }
        let id = self.node(&step["node"], variables)?;
        let h = &mut self.h;
        Ok(match op {
            "alias" => {
                let name = self.name(&step["name"], variables)?;
                self.names.insert(name, id);
                Ok(())
            }
            "set_local" => h.set_local(id, &trs(&step["trs"])),
            "set_local_matrix" => h.set_local_matrix(id, &array(&step["matrix"])),
            "set_local_position" => h.set_position(id, array(&step["value"])),
            "set_local_rotation" => h.set_rotation(id, array(&step["value"])),
            "set_local_scale" => h.set_scale(id, array(&step["value"])),
            "set_world" => h.set_world(id, &array(&step["matrix"])),
            "set_world_position" => h.set_world_position(id, array(&step["value"])),
            "set_world_rotation" => h.set_world_rotation(id, array(&step["value"])),
            "set_parent" => {
                let parent = self.parent(step, variables)?;
                self.h.reparent(id, parent, keep(step)?)
            }
            "remove_subtree" => h.remove_subtree(id),
            "remove_and_promote" => h.remove_and_promote(id, keep(step)?),
            "translate" => h.translate(id, array(&step["by"]), space(step)?),
            "rotate" => h.rotate(id, array(&step["rotation"]), space(step)?),
            "look_at" => h.look_at(id, array(&step["target"]), array(&step["up"])),
            _ => h.local(id).map(|_| ()),
        })
    }

    fn parent(&self, step: &Value, variables: &[(String, i64)]) -> Result<Option<NodeId>, String> {
        if step["parent"].is_null() { Ok(None) } else { self.node(&step["parent"], variables).map(Some) }
    }

    fn add(&mut self, step: &Value, variables: &[(String, i64)]) -> Outcome {
        let parent = self.parent(step, variables)?;
        let added = match step.get("matrix") {
            Some(matrix) => self.h.add_matrix(parent, &array(matrix)),
            None => self.h.add(parent, &trs(&step["trs"])),
        };
        Ok(match added {
            Ok(id) => {
                self.names.insert(self.name(&step["node"], variables)?, id);
                Ok(())
            }
            Err(error) => Err(error),
        })
    }
}

fn keep(step: &Value) -> Result<Keep, String> {
    match step["keep"].as_str() {
        Some("world") => Ok(Keep::World),
        Some("local") => Ok(Keep::Local),
        _ => Err(format!("unknown keep {}", step["keep"])),
    }
}

fn space(step: &Value) -> Result<Space, String> {
    match step["space"].as_str() {
        Some("local") => Ok(Space::Local),
        Some("parent") => Ok(Space::Parent),
        Some("world") => Ok(Space::World),
        _ => Err(format!("unknown space {}", step["space"])),
    }
}
