// SPDX-License-Identifier: Apache-2.0
/** Exclusive use of devices: a {@link io.kiln.device.lease.Lease} on one, from whatever source. */
package io.kiln.device.lease;
