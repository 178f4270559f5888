// SPDX-License-Identifier: Apache-2.0
/** The steps that use a device or an emulator: flash, run, monitor, debug; leases and flash runners. */
package io.kiln.flow.device;
