// SPDX-License-Identifier: Apache-2.0
/** Who has a device: a {@link io.kiln.device.lease.Lease} on one, wherever it comes from. */
package io.kiln.device.lease;
