// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Reads and runs texts whose parameters are random. */
abstract class ForeignTexts {
    final Random random = new Random(17);
    final List<NamedTensor> params = new ArrayList<>();

    String param(String name, DType dtype, Integer... dims) {
        int elements = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        byte[] data = new byte[elements * dtype.bytes()];
        random.nextBytes(data);
        // Keeps int32 within 16 bits.
        for (int i = 3; dtype == DType.INT32 && i < data.length; i += 4) {
            data[i] = (byte) (data[i - 2] >> 7);
            data[i - 1] = data[i];
        }
        params.add(new NamedTensor(name, dtype, List.of(dims), Bytes.wrap(data)));
        return "%" + name + ": Tensor[(" + List.of(dims).toString().replaceAll("[\\[\\]]", "") + "), " + dtype.text()
                + "]";
    }

    Function read(String text) {
        return read(text, InputShapes.NONE);
    }

    Function read(String text, InputShapes shapes) {
        return RelayFrontend.read(
                Bytes.ofText(text), "m.relay", Optional.of(ParameterFile.write(params)), "m.params", "default", shapes);
    }

    static byte[] run(Function function, byte[] input) {
        return Interpreter.run(function, List.of(Bytes.wrap(input))).get(0).toArray();
    }

    byte[] bytes(int count) {
        byte[] data = new byte[count];
        random.nextBytes(data);
        return data;
    }

    static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    /** What is printed of a text that TVM printed is read again as the same function. */
    static void assertComesBack(Function function) {
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), "m.relay", Optional.empty(), "m.params", "default");
        assertThat(again).isEqualTo(function);
    }
}
