// SPDX-License-Identifier: Apache-2.0
/** Faults: what an image reports about a fault that ended it, with names from its ELF file. */
package io.kiln.device.fault;
