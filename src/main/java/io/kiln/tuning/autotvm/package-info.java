// SPDX-License-Identifier: Apache-2.0
/** AutoTVM's configuration spaces, to tell what the indices in logs of TVM mean. Source: tvm 0.16, {@code autotvm.task.space}. */
package io.kiln.tuning.autotvm;
