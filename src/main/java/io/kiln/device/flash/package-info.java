// SPDX-License-Identifier: Apache-2.0
/**
 * Writing images to devices with OpenOCD: choosing the probe, the command line, what its output means and the verdict. OpenOCD's
 * exit code alone is never believed.
 */
package io.kiln.device.flash;
