// SPDX-License-Identifier: Apache-2.0
/**
 * The code generator {@code ethos-u}: C that hands the parts of a model that Vela compiled to Arm's driver, and what tools show of them. It is a
 * code generator like those of others, with a loader and an inspector of its own.
 */
package io.kiln.partition.ethosu;
