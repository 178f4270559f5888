// SPDX-License-Identifier: Apache-2.0
/** A runner's side of the serial protocol of MLPerf Tiny. */
package io.kiln.device.mlperf;
