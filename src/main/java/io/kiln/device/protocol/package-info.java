// SPDX-License-Identifier: Apache-2.0
/**
 * What is said over a {@link io.kiln.device.transport.Transport}: a {@link io.kiln.device.protocol.Protocol} connects to the program at
 * the other end and gives a {@link io.kiln.device.protocol.ModelSession}. A new protocol is one class beside
 * {@link io.kiln.device.protocol.ConsoleProtocol}.
 */
package io.kiln.device.protocol;
