//! Ranks mapped to objects, and bound to objects there.

use super::list::show_runs;
use super::request::{Binding, Object, RankBy};
use super::topology::Topology;

/// The CPUs of each rank. `to` are the kind and number of objects that a rank is bound to. Ranks go to the objects that they are mapped to
/// in turn; those of one object get what they are bound to, in it or around it, in turn.
pub fn place(
    binding: &Binding,
    to: (Object, u32),
    ranks: u32,
    topology: &Topology,
) -> Result<Vec<Vec<u32>>, String> {
    let (kind, count) = to;
    let map = binding.map.unwrap_or(kind);
    let groups = |objects: Vec<Vec<u32>>, of: Option<&[u32]>| match group(&objects, count) {
        groups if groups.is_empty() => Err(too_few(to, objects.len(), map, of)),
        groups => Ok(groups),
    };
    let all = topology.objects(kind);
    let places = match map {
        same if same == kind => groups(all, None)?,
        _ => topology.objects(map),
    };
    let mut on_place = vec![0; places.len()];
    let mut masks = Vec::with_capacity(ranks as usize);
    for place in order(binding, map, ranks, &places, topology) {
        let turn = on_place[place];
        on_place[place] += 1;
        let mapped = &places[place];
        masks.push(match map {
            same if same == kind => mapped.clone(),
            coarser if coarser > kind => {
                let inside = topology.objects_in(kind, mapped);
                let inside = groups(inside, Some(mapped))?;
                inside[turn % inside.len()].clone()
            }
            _ => {
                let around = groups(topology.objects(kind), None)?;
                let of = around.iter().find(|cpus| cpus.contains(&mapped[0]));
                of.or(around.last()).cloned().unwrap_or_default()
            }
        });
    }
    Ok(masks)
}

/// The place of each rank, by index.
fn order(
    binding: &Binding,
    map: Object,
    ranks: u32,
    places: &[Vec<u32>],
    topology: &Topology,
) -> Vec<usize> {
    let per_object = binding.per_object.unwrap_or(1) as usize;
    let mut order: Vec<usize> = (0..ranks as usize)
        .map(|rank| rank / per_object % places.len())
        .collect();
    match binding.rank_by {
        Some(RankBy::Fill) => {
            order.sort_unstable();
            order
        }
        Some(RankBy::Objects(object)) if object > map => {
            order.sort_unstable();
            let groups = topology.objects(object);
            let of = |place: &usize| {
                groups
                    .iter()
                    .position(|cpus| cpus.contains(&places[*place][0]))
            };
            deal(order, of)
        }
        Some(RankBy::Objects(_) | RankBy::Node) | None => order,
    }
}

/// One of each group in turn, in the order that they have within it.
fn deal<T>(items: Vec<T>, group: impl Fn(&T) -> Option<usize>) -> Vec<T> {
    let mut met = std::collections::HashMap::new();
    let mut turns: Vec<(usize, Option<usize>, T)> = Vec::with_capacity(items.len());
    for item in items {
        let of = group(&item);
        let turn = met.entry(of).or_insert(0);
        turns.push((*turn, of, item));
        *turn += 1;
    }
    turns.sort_by_key(|(turn, of, _)| (*turn, *of));
    turns.into_iter().map(|(_, _, item)| item).collect()
}

pub fn in_turn(masks: &[Vec<u32>], ranks: u32) -> Vec<Vec<u32>> {
    masks.iter().cycle().take(ranks as usize).cloned().collect()
}

/// So many neighbours together; those left over are nobody's.
fn group(objects: &[Vec<u32>], count: u32) -> Vec<Vec<u32>> {
    let groups = objects.chunks_exact(count as usize);
    groups.map(<[Vec<u32>]>::concat).collect()
}

fn too_few(to: (Object, u32), found: usize, map: Object, of: Option<&[u32]>) -> String {
    let (kind, count) = to;
    let place = match of {
        Some(cpus) => format!("the {} of CPUs {}", map.name(), show_runs(cpus)),
        None => "this host".into(),
    };
    format!(
        "a rank cannot be bound to {count} of a kind ({}): {place} has {found} that mpiexec may use",
        kind.name()
    )
}
