// SPDX-License-Identifier: Apache-2.0
/** The serial line of a board: which port it is, and what comes from it. */
package io.kiln.device.console;
