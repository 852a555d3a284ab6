//! The stock kernels that a scenario's hosts run, found where the user keeps them.

use ackord_live::SimulatedKernels;
use ackord_scenario::{KernelChoice, Scenario};
use ackord_uml::{DEFAULT_HZ, Kernel, KernelError, KernelWish, find_kernel};
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
            None => found.entry(choice).or_insert(kernel_of(choice)?),
        };
        kernels.insert(NodeId(number), kernel.clone());
    }
    Ok((!kernels.is_empty()).then_some(SimulatedKernels { kernels, program: None }))
}

/// The kernel of this name.
///
/// # Errors
/// If it has not been built: the error says how to.
pub fn kernel_of(choice: &KernelChoice) -> Result<Kernel, KernelError> {
    find_kernel(&KernelWish { name: choice.name.clone(), hz: choice.hz.unwrap_or(DEFAULT_HZ) })
}
