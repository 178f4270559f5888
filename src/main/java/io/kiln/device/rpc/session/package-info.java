// SPDX-License-Identifier: Apache-2.0
/** microTVM's session: two sides agree on an id by nonces, and exchange messages under it, one in each frame. */
package io.kiln.device.rpc.session;
