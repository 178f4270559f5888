// SPDX-License-Identifier: Apache-2.0
/** Flashing with OpenOCD: choice of the probe, command line, parsing of the output and the verdict. OpenOCD's exit code alone is not trusted. */
package io.kiln.device.flash;
