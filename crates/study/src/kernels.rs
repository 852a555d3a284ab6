//! The stock kernels that a scenario's hosts run, found where the user keeps them.

use ackord_live::SimulatedKernels;
use ackord_scenario::{KernelChoice, Scenario};
use ackord_uml::{DEFAULT_HZ, KernelError, KernelWish, find_kernel};
use ackord_wire::NodeId;
use std::collections::BTreeMap;

/// The kernels of a scenario's hosts; nothing where all hosts are ours.
///
/// # Errors
/// If one has not been built: the error says how to.
pub fn kernels_of(scenario: &Scenario) -> Result<Option<SimulatedKernels>, KernelError> {
    let mut found = BTreeMap::new();
    let mut kernels = BTreeMap::new();
    for (node, number) in scenario.nodes.iter().zip(0..) {
        let Some(choice) = &node.kernel else { continue };
        let kernel = match found.get(choice) {
            Some(kernel) => kernel,
            None => found.entry(choice).or_insert(find_kernel(&wish(choice))?),
        };
        kernels.insert(NodeId(number), kernel.clone());
    }
    Ok((!kernels.is_empty()).then_some(SimulatedKernels { kernels, program: None }))
}

fn wish(choice: &KernelChoice) -> KernelWish {
    KernelWish { name: choice.name.clone(), hz: choice.hz.unwrap_or(DEFAULT_HZ) }
}
