// SPDX-License-Identifier: Apache-2.0
/**
 * Protocols over a {@link io.kiln.device.transport.Transport}: a {@link io.kiln.device.protocol.Protocol} connects to
 * the program at the other end and returns a {@link io.kiln.device.protocol.ModelSession}. To add a protocol, add a
 * class beside {@link io.kiln.device.protocol.ConsoleProtocol}.
 */
package io.kiln.device.protocol;
