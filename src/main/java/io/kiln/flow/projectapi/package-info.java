// SPDX-License-Identifier: Apache-2.0
/**
 * Kiln as a server of microTVM's Project API: the template's folder, and the program that its launcher starts. The
 * protocol itself is in {@link io.kiln.device.projectapi}.
 */
package io.kiln.flow.projectapi;
