// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** Combines the elements inside each window, channel by channel, without padding. NHWC. Argument: data. */
public interface Pool2d extends Op {
    Window window();
}
