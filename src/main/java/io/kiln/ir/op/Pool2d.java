// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** What combines the elements inside each window, channel by channel; padding does not count. NHWC. Argument: data. */
public interface Pool2d extends Op {
    Window window();
}
