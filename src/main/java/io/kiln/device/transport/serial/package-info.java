// SPDX-License-Identifier: Apache-2.0
/** Serial ports: choosing one, and a transport over it. */
package io.kiln.device.transport.serial;
