// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Geometry of a sliding window over height and width, shared by convolutions and pools.
 *
 * <p>Output row {@code r} reads input rows {@code r * strideH - padTop + k * dilationH} for {@code k < kernelH}.
 *
 * @param kernel size of the window
 * @param stride from one window to the next
 * @param spread from one tap to the next, usually 1
 * @param margins what is added around the data
 */
public record Window(Steps kernel, Steps stride, Steps spread, Margins margins) {
    /** Rows and columns. */
    public record Steps(int rows, int columns) {}

    /** Rows above and below, columns on the left and on the right. */
    public record Margins(int top, int left, int bottom, int right) {}

    /** Limit of the numbers in a text that keeps the arithmetic of windows within 32 bits. */
    public static final int MOST = (1 << 15) - 1;

    private static final int PAIR = 2;
    private static final int EDGES = 4;
    private static final Steps SINGLE = new Steps(1, 1);

    /** One tap: that of a fully connected layer. */
    public static final Window ONE = of(1, 1);

    public Window {
        Check.that(
                kernel.rows > 0 && kernel.columns > 0,
                "window must be at least 1x1, not " + kernel.rows + "x" + kernel.columns);
        Check.that(
                stride.rows > 0 && stride.columns > 0,
                "strides must be positive, not " + stride.rows + ", " + stride.columns);
        Check.that(
                spread.rows > 0 && spread.columns > 0,
                "dilation must be positive, not " + spread.rows + ", " + spread.columns);
        Check.that(
                margins.top >= 0 && margins.left >= 0 && margins.bottom >= 0 && margins.right >= 0,
                "padding must not be negative");
    }

    /**
     * Reads a window from a text, in which strides, dilation and padding may be left out.
     *
     * @param kernelName name of the attribute with the window's size
     * @param otherwise size if there is no such attribute; empty if it is required
     */
    public static Window read(AttributeReader a, String kernelName, List<Integer> otherwise) {
        List<Integer> size = a.has(kernelName) || otherwise.isEmpty()
                ? pair(a.integers(kernelName, 1, MOST, PAIR))
                : pair(otherwise);
        List<Integer> strides = pair(list(a, "strides", 1, List.of(1, 1), PAIR));
        List<Integer> dilation = pair(list(a, "dilation", 1, List.of(1, 1), PAIR));
        List<Integer> padding = edges(list(a, "padding", 0, List.of(0, 0), 1, PAIR, EDGES));
        return of(size.get(0), size.get(1))
                .strided(strides.get(0), strides.get(1))
                .dilated(dilation.get(0), dilation.get(1))
                .padded(padding.get(0), padding.get(1), padding.get(2), padding.get(3));
    }

    private static List<Integer> list(
            AttributeReader a, String name, int least, List<Integer> otherwise, Integer... sizes) {
        return a.has(name) ? a.integers(name, least, MOST, sizes) : otherwise;
    }

    /** After an error, which has been reported, any pair will do. */
    private static List<Integer> pair(List<Integer> values) {
        return values.size() == PAIR ? values : List.of(1, 1);
    }

    private static List<Integer> edges(List<Integer> given) {
        if (given.size() == EDGES) {
            return given;
        }
        int vertical = given.isEmpty() ? 0 : given.get(0);
        int horizontal = given.size() == PAIR ? given.get(1) : vertical;
        return List.of(vertical, horizontal, vertical, horizontal);
    }

    /** A window of a size that moves by 1, without dilation and padding. */
    public static Window of(int kernelH, int kernelW) {
        return new Window(new Steps(kernelH, kernelW), SINGLE, SINGLE, new Margins(0, 0, 0, 0));
    }

    public Window strided(int rows, int columns) {
        return new Window(kernel, new Steps(rows, columns), spread, margins);
    }

    public Window dilated(int rows, int columns) {
        return new Window(kernel, stride, new Steps(rows, columns), margins);
    }

    public Window padded(int top, int left, int bottom, int right) {
        return new Window(kernel, stride, spread, new Margins(top, left, bottom, right));
    }

    /** Window height. */
    public int kernelH() {
        return kernel.rows;
    }

    public int kernelW() {
        return kernel.columns;
    }

    /** Rows between windows. */
    public int strideH() {
        return stride.rows;
    }

    /** Columns between windows. */
    public int strideW() {
        return stride.columns;
    }

    /** Rows between taps. */
    public int dilationH() {
        return spread.rows;
    }

    /** Columns between taps. */
    public int dilationW() {
        return spread.columns;
    }

    /** Rows added above. */
    public int padTop() {
        return margins.top;
    }

    /** Columns added on the left. */
    public int padLeft() {
        return margins.left;
    }

    /** Rows added below. */
    public int padBottom() {
        return margins.bottom;
    }

    /** Columns added on the right. */
    public int padRight() {
        return margins.right;
    }

    /** Rows of the output for an input of the given height; not positive if the window does not fit. */
    public int outputHeight(int inputHeight) {
        return Math.floorDiv(inputHeight + padTop() + padBottom() - spanH(), strideH()) + 1;
    }

    public int outputWidth(int inputWidth) {
        return Math.floorDiv(inputWidth + padLeft() + padRight() - spanW(), strideW()) + 1;
    }

    /** The result of an operator whose window slides over an image, NHWC, and keeps its channels. */
    public TensorType slid(Op op, TensorType data) {
        Shape shape = data.shape();
        int height = outputHeight(shape.dim(1));
        int width = outputWidth(shape.dim(2));
        Check.that(height > 0 && width > 0, op.name() + ": the window is larger than the padded input");
        return new TensorType(Shape.of(shape.dim(0), height, width, shape.dim(3)), data.dtype());
    }

    /** Rows covered by one window, including the gaps of dilation. */
    public int spanH() {
        return (kernelH() - 1) * dilationH() + 1;
    }

    public int spanW() {
        return (kernelW() - 1) * dilationW() + 1;
    }

    public boolean isPadded() {
        return padTop() > 0 || padLeft() > 0 || padBottom() > 0 || padRight() > 0;
    }

    public List<Integer> strides() {
        return List.of(strideH(), strideW());
    }

    /** Relay's order: top, left, bottom, right. */
    public List<Integer> padding() {
        return List.of(padTop(), padLeft(), padBottom(), padRight());
    }

    public List<Integer> dilation() {
        return List.of(dilationH(), dilationW());
    }

    public List<Integer> kernelSize() {
        return List.of(kernelH(), kernelW());
    }
}
