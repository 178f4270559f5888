// SPDX-License-Identifier: Apache-2.0
/** Lines of bytes to a program, frames in them (microTVM's framing), and reading with a deadline. What frames mean is the protocol's. */
package io.kiln.device.transport;
