// SPDX-License-Identifier: Apache-2.0
/** Talks to the default application of an image over a stream of bytes, in microTVM's framing. */
package io.kiln.device.transport;
