// SPDX-License-Identifier: Apache-2.0
/** Byte connections to a program, frames in them (microTVM's framing), and reading with a deadline. The protocol interprets the frames. */
package io.kiln.device.transport;
