// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.AttributeReader;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Transposed convolutions and their geometry. */
public final class TransposedConvolutions {
    private TransposedConvolutions() {}

    /**
     * Geometry of a transposed convolution: input row {@code i} is added to output rows {@code i * strideH - padTop + k}
     * for {@code k < kernelH}, where these exist.
     *
     * @param window kernel, strides and padding, which crops the output; without dilation
     * @param outputPaddingH rows appended to the output below, which receive the sums that reach them
     * @param outputPaddingW columns added to the right
     */
    public record TransposedWindow(Window window, int outputPaddingH, int outputPaddingW) {
        public TransposedWindow {
            Check.that(
                    window.dilationH() == 1 && window.dilationW() == 1, "a transposed convolution cannot be dilated");
            Check.that(outputPaddingH >= 0 && outputPaddingW >= 0, "output padding must not be negative");
        }

        /** Rows of the output; not positive if padding crops all of them. */
        public int outputHeight(int inputHeight) {
            return size(inputHeight, window.strideH(), window.kernelH())
                    - window.padTop()
                    - window.padBottom()
                    + outputPaddingH;
        }

        public int outputWidth(int inputWidth) {
            return size(inputWidth, window.strideW(), window.kernelW())
                    - window.padLeft()
                    - window.padRight()
                    + outputPaddingW;
        }

        /** Number of output rows that an input reaches. */
        public static int size(int input, int stride, int kernel) {
            return (input - 1) * stride + kernel;
        }

        Map<String, Object> text() {
            Map<String, Object> text = new LinkedHashMap<>();
            text.put("kernel_size", window.kernelSize());
            text.put("strides", window.strides());
            text.put("padding", window.padding());
            text.put("output_padding", List.of(outputPaddingH, outputPaddingW));
            text.put("data_layout", "NHWC");
            text.put("kernel_layout", "OHWI");
            return text;
        }

        static TransposedWindow read(AttributeReader a) {
            a.choice("data_layout", "NHWC");
            a.choice("kernel_layout", "OHWI");
            List<Integer> more =
                    a.has("output_padding") ? a.integers("output_padding", 0, Window.MOST, 2) : List.of(0, 0);
            Window window = Window.read(a, "kernel_size", List.of());
            return new TransposedWindow(window, more.get(0), more.size() < 2 ? 0 : more.get(1));
        }

        TensorType infer(String name, int channels, TensorType data, TensorType weight, DType outDtype) {
            Check.rank(name + " data (NHWC)", data, 4);
            Check.rank(name + " weight", weight, 4);
            Check.that(
                    weight.shape()
                            .equals(Shape.of(
                                    channels,
                                    window.kernelH(),
                                    window.kernelW(),
                                    data.shape().dim(3))),
                    name + " weight (OHWI) " + weight.shape().text() + " does not fit "
                            + data.shape().dim(3) + " input and " + channels + " output channels");
            int height = outputHeight(data.shape().dim(1));
            int width = outputWidth(data.shape().dim(2));
            Check.that(height > 0 && width > 0, name + ": padding removes the whole output");
            return new TensorType(Shape.of(data.shape().dim(0), height, width, channels), outDtype);
        }
    }

    /** A transposed convolution, NHWC. Its products are not counted, because their number also depends on the borders. */
    private interface TransposedLayer extends Layer {
        /** Its geometry. */
        TransposedWindow window();

        @Override
        default Window geometry() {
            return window().window();
        }

        @Override
        default boolean isTransposed() {
            return true;
        }
    }

    /**
     * 2-D transposed convolution of float32, NHWC. Arguments: data, weight (OHWI).
     *
     * @param window geometry
     * @param channels output channels
     */
    public record Conv2dTranspose(TransposedWindow window, int channels) implements TransposedLayer {
        public static final Signature<Conv2dTranspose> SIGNATURE = Signature.of(
                        Conv2dTranspose.class, "nn.conv2d_transpose")
                .data("data", DType.FLOAT32)
                .data("weight", DType.FLOAT32)
                .attributes(
                        Attribute.whole("channels", Conv2dTranspose::channels, 1),
                        Attribute.parts(Conv2dTranspose::window, TransposedWindow::text, TransposedWindow::read)
                                .then("out_dtype", "float32"),
                        (channels, window) -> new Conv2dTranspose(window, channels))
                .result((op, args) -> op.window.infer(op.name(), op.channels, args.get(0), args.get(1), DType.FLOAT32));

        @Override
        public Card<Conv2dTranspose> card() {
            return SIGNATURE.of(this);
        }
    }

    /**
     * 2-D transposed convolution with quantized weights, NHWC, before rescaling, with the sums of {@link QnnConv2d}.
     *
     * <p>Arguments: data, weight (OHWI), input zero point, kernel zero point, input scale, kernel scale (scalar or per channel).
     *
     * @param window geometry
     * @param channels output channels
     * @param outDtype int32 or int64, in which sums wrap around
     */
    public record QnnConv2dTranspose(TransposedWindow window, int channels, DType outDtype) implements TransposedLayer {
        public static final Signature<QnnConv2dTranspose> SIGNATURE = Layer.quantized(
                        Signature.of(QnnConv2dTranspose.class, "qnn.conv2d_transpose")
                                .data(
                                        "data",
                                        operand -> operand.fits((what, type, op, args) -> Check.that(
                                                type.dtype().isInteger(),
                                                "qnn.conv2d_transpose: data must be quantized")))
                                .data("weight", DType.INT8),
                        QnnConv2dTranspose::channels)
                .attributes(
                        Attribute.whole("channels", QnnConv2dTranspose::channels, 1),
                        Attribute.parts(QnnConv2dTranspose::window, TransposedWindow::text, TransposedWindow::read),
                        Attribute.sums(QnnConv2dTranspose::outDtype),
                        (channels, window, outDtype) -> new QnnConv2dTranspose(window, channels, outDtype))
                .result(QnnConv2dTranspose::result);

        @Override
        public Card<QnnConv2dTranspose> card() {
            return SIGNATURE.of(this);
        }

        private TensorType result(List<TensorType> args) {
            Check.accumulator(name(), args.get(0), outDtype);
            return window.infer(name(), channels, args.get(0), args.get(1), outDtype);
        }
    }
}
