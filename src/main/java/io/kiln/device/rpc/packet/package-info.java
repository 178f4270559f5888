// SPDX-License-Identifier: Apache-2.0
/** RPC packets, as TVM's MinRPC lays them out: a length, a code, and values one after the other. */
package io.kiln.device.rpc.packet;
