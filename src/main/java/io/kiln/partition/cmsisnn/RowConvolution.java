// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;

/**
 * Convolutions of one row, for which CMSIS-NN has a function of its own on cores with MVE, {@code arm_convolve_1_x_n_s8}. It copies the
 * row's ends: for the left one all pixels of a window, for the right one all but one, with padding before and after them. That is right
 * only for some windows; for others it returns an error, or reads pixels that do not exist.
 *
 * @param window of the convolution
 * @param input NHWC
 * @param outputs pixels of a row of the result
 */
record RowConvolution(Window window, Shape input, int outputs) {
    /** Pixels of a row and channels that the function takes at once. */
    private static final int LANES = 4;

    /** Whether the function computes this convolution in some version, as int8. */
    boolean isOne() {
        boolean isPointwise = window.kernelW() == 1 && !window.isPadded();
        return input.dim(1) == 1
                && window.kernelH() == 1
                && window.dilationW() == 1
                && !isPointwise
                && (window.strideW() * input.dim(3) % LANES == 0 || outputs % LANES == 0);
    }

    /** Whether its result is the convolution's. */
    boolean isRight(CmsisNnVersion version) {
        int stride = window.strideW();
        int left = window.padLeft();
        int right = (outputs - 1) * stride + window.kernelW() - input.dim(2) - left;
        if (right != left && right != left + 1) {
            return false;
        }
        int before = windows(left);
        int after = windows(right);
        if (before + after > outputs) {
            return version.hasGeneralRows();
        }
        boolean isLeftRight = left == 0 || input.dim(2) >= window.kernelW();
        boolean isRightRight = right == 0 || (after - 1) * stride == right - 1;
        return isLeftRight && isRightRight && (right == left || right == after);
    }

    /** Windows that reach into so many pixels of padding. */
    private int windows(int pixels) {
        return (pixels + window.strideW() - 1) / window.strideW();
    }
}
