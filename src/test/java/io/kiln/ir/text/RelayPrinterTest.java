// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Golden texts lie in {@code src/test/resources}; {@code -Dgolden.update=true} writes them anew, for review in the diff. */
class RelayPrinterTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "io", "kiln", "ir", "text");

    @Test
    void aQuantizedNetPrintsAsReviewed() throws IOException {
        check("small_net.relay", RelayPrinter.print(smallNet("input", List.of())));
    }

    @Test
    void theWholeTextHasVersionGroupsAndConstants() throws IOException {
        List<Group> groups = List.of(
                new Group("qnn_conv2d_clip", List.of(1, 2)),
                new Group("nn_max_pool2d", List.of(3)),
                new Group("reshape_qnn_dequantize_nn_softmax", List.of(4, 5, 6)));
        check("small_net_astext.relay", RelayPrinter.astext(smallNet("input", groups)));
    }

    @Test
    void namesOfTheModelCannotBreakTheText() throws IOException {
        check("hostile_names.relay", RelayPrinter.print(smallNet("7 in\"put*/ /*:0\n", List.of())));
    }

    @Test
    void theMetadataSectionHoldsTheConstants() throws IOException {
        String text = RelayPrinter.astext(smallNet("x", List.of()));
        JsonNode json = new ObjectMapper().readTree(text.substring(text.indexOf("#[metadata]\n") + 12));

        byte[] array = Base64.getDecoder().decode(json.at("/b64ndarrays/0").asText());
        assertThat(array).hasSize(8 + 8 + 8 + 4 + 4 + 4 * 8 + 8 + 8);
        assertThat(array).endsWith(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(json.at("/nodes/2/data")).hasSize(2);
        assertThat(json.at("/nodes/1/keys/0").asText()).isEqualTo("relay.Constant");
    }

    @Test
    void tenThousandOperatorsPrintFast() {
        TensorType type = new TensorType(Shape.of(4), DType.INT8);
        List<Binding> bindings = new ArrayList<>();
        for (int i = 1; i <= 10_000; i++) {
            bindings.add(new Binding(
                    i, new Clip(-1, 1), List.of(new Arg.Ref(i - 1)), type, new Origin("m.tflite", i, "RELU", "t" + i)));
        }
        Function function = new Function(
                "long",
                List.of(new Parameter(0, "x", type, Optional.empty())),
                bindings,
                List.of(new Result(10_000, "y", Optional.empty())));

        assertThat(RelayPrinter.print(function).lines()).hasSize(10_003).contains("  %9999");
    }

    private static Function smallNet(String input, List<Group> groups) {
        Net net = new Net(new TensorType(Shape.of(1, 4, 4, 1), DType.INT8));
        Constant weight =
                new Constant("conv/" + input, new TensorType(Shape.of(2, 2, 2, 1), DType.INT8), Bytes.wrap(new byte[] {
                    1, 2, 3, 4, 5, 6, 7, 8
                }));
        Window conv = Window.of(2, 2).padded(0, 0, 1, 1);
        net.add(
                new QnnConv2d(conv, 1, 2, "OHWI"),
                weight,
                Constant.scalar(-128),
                Constant.scalar(0),
                Constant.scalar(0.0582336f),
                Constant.vector(0.5f, 1e-7f));
        net.add(new Clip(-128, 127));
        net.add(new MaxPool2d(Window.of(2, 2).strided(2, 2)));
        net.add(new Reshape(Shape.of(1, 8)));
        net.add(new QnnDequantize(), Constant.scalar(0.1f), Constant.scalar(3));
        net.add(new Softmax(1.0f));
        return new Function(
                        "small",
                        List.of(new Parameter(
                                0,
                                input,
                                new TensorType(Shape.of(1, 4, 4, 1), DType.INT8),
                                Optional.of(new Quantization(0.0582336f, -128)))),
                        net.bindings,
                        List.of(
                                new Result(6, "Identity", Optional.empty()),
                                new Result(3, "pool", Optional.of(new Quantization(0.1f, 3)))))
                .withGroups(groups);
    }

    private static void check(String name, String text) throws IOException {
        Path file = GOLDEN.resolve(name);
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(GOLDEN);
            Files.writeString(file, text);
        }
        assertThat(text).isEqualTo(Files.readString(file));
    }

    /** A chain under construction. */
    private static final class Net {
        private final List<Binding> bindings = new ArrayList<>();
        private final Map<Integer, TensorType> types = new HashMap<>();

        Net(TensorType input) {
            types.put(0, input);
        }

        void add(Op op, Arg... constants) {
            int id = bindings.size() + 1;
            List<Arg> args = new ArrayList<>(List.of(new Arg.Ref(id - 1)));
            args.addAll(List.of(constants));
            TensorType type = op.infer(args.stream()
                    .map(a -> a instanceof Constant c ? c.type() : types.get(((Arg.Ref) a).id()))
                    .toList());
            types.put(id, type);
            bindings.add(
                    new Binding(id, op, args, type, new Origin("small.tflite", id - 1, "OP_" + id, "tensor " + id)));
        }
    }
}
