// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every function of two elements has a kernel and a lowering for every type that its definition states. */
class BinaryKindsTest {
    private static final Shape SHAPE = Shape.of(1, 16);

    /** Functions of floats that the C library computes, which rounds otherwise than Java's doubles. */
    private static final Set<Binary.Kind> OF_THE_LIBRARY = Set.of(Binary.Kind.POWER, Binary.Kind.ATAN2);

    /** Most units in the last place by which these may differ: a millionth. */
    private static final int MOST_UNITS = 8;

    @TempDir
    private Path folder;

    private final List<Parameter> params = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private int ids;

    @Test
    void everyKindComputesEveryTypeOfItsDefinition() {
        for (DType dtype : DType.values()) {
            List<Binary> functions = functions(dtype);
            if (!functions.isEmpty()) {
                List<Arg> args = List.of(parameter(dtype), parameter(dtype));
                functions.forEach(function -> bind(function, dtype, args));
            }
        }
        List<Result> results = bindings.stream()
                .map(b -> new Result(b.id(), "r" + b.id(), Optional.empty()))
                .toList();
        assertSame(new Function("kinds", params, bindings, results));
    }

    private static List<Binary> functions(DType dtype) {
        return Stream.of(Binary.Kind.values())
                .filter(kind -> kind.dtypes().contains(dtype))
                .map(Binary::new)
                .toList();
    }

    private Arg parameter(DType dtype) {
        params.add(new Parameter(ids, "p" + ids, new TensorType(SHAPE, dtype), Optional.empty()));
        return new Arg.Ref(ids++);
    }

    private void bind(Binary function, DType dtype, List<Arg> args) {
        TensorType data = new TensorType(SHAPE, dtype);
        Origin origin = new Origin("kinds", ids, function.name(), "r" + ids);
        bindings.add(new Binding(ids++, function, args, function.infer(List.of(data, data)), origin));
    }

    private void assertSame(Function function) {
        CompileRequest request = RequestDraft.of(folder.resolve("kinds.relay"), "c -keys=cpu -model=host")
                .name("kinds")
                .build();
        CompiledModel compiled = ModelCompiler.compile(request, function);
        Random random = new Random(1);
        List<Bytes> inputs = params.stream().map(p -> values(p.type(), random)).toList();
        List<Bytes> expected = Interpreter.run(function, inputs);
        HostProgram program = HostProgram.build(
                folder,
                List.of(compiled.library().metadata()),
                List.of(compiled.library().artifacts().artifacts()));
        byte[] answers = program.run(inputs).toArray();
        int from = 0;
        for (int i = 0; i < expected.size(); i++) {
            int to = from + expected.get(i).size();
            Binding binding = function.bindings().get(i);
            List<Integer> actual = words(Arrays.copyOfRange(answers, from, to), binding.type());
            List<Integer> wanted = words(expected.get(i).toArray(), binding.type());
            boolean isOfLibrary = binding.type().dtype().isFloat()
                    && binding.op() instanceof Binary binary
                    && OF_THE_LIBRARY.contains(binary.kind());
            assertThat(actual)
                    .as("%s of %s", binding.op().name(), binding.type())
                    .usingElementComparator(
                            isOfLibrary
                                    ? (one, other) -> Math.abs((long) one - other) > MOST_UNITS ? 1 : 0
                                    : Integer::compare)
                    .isEqualTo(wanted);
            from = to;
        }
        assertThat(answers).hasSize(from);
    }

    /** Words of floats, in which all that are no number are one; bytes of other types. */
    private static List<Integer> words(byte[] data, TensorType type) {
        ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        List<Integer> words = new ArrayList<>();
        while (buffer.hasRemaining()) {
            words.add(type.dtype() == DType.FLOAT32 ? Float.floatToIntBits(buffer.getFloat()) : (int) buffer.get());
        }
        return words;
    }

    /** Small values; dividing by them is defined for floats and gives 0 for integers. */
    private static Bytes values(TensorType type, Random random) {
        int bytes = type.dtype().bytes();
        int elements = Math.toIntExact(SHAPE.elements());
        ByteBuffer buffer = ByteBuffer.allocate(elements * bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < elements; i++) {
            long value = type.dtype() == DType.BOOL ? random.nextInt(2) : random.nextInt(40);
            switch (bytes) {
                case Byte.BYTES -> buffer.put((byte) value);
                case Short.BYTES -> buffer.putShort((short) value);
                case Long.BYTES -> buffer.putLong(value);
                default -> {
                    if (type.dtype().isFloat()) {
                        buffer.putFloat(value / 4f - 3.1f);
                    } else {
                        buffer.putInt((int) value);
                    }
                }
            }
        }
        return Bytes.wrap(buffer.array());
    }
}
