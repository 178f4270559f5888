// SPDX-License-Identifier: Apache-2.0
/** What Arm's Vela writes for an Ethos-U: payloads of its driver, command streams, and which memory each operation of a stream touches. */
package io.kiln.npu;
