// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;

import io.kiln.base.Bytes;
import io.kiln.draw.Choices;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleSupplier;

/** The random choices of one ONNX model, and the file that is made of them. */
public class OnnxDraw extends Choices {
    protected final ModelBuilder model;

    /**
     * How often all operators have had their turn. The first choice of {@link Random} is nearly the same for all small seeds, so what is
     * chosen first, the type or the number of dimensions, follows the turn.
     */
    protected final long turn;

    /**
     * A drawn model.
     *
     * @param name what failures call it: mostly its operator
     */
    public record Model(String name, Bytes file) {}

    /**
     * @param operators how many take turns with the seed
     * @param version of ONNX's operators
     */
    protected OnnxDraw(long seed, int operators, int version) {
        super(new Random(seed));
        turn = seed / operators;
        model = new ModelBuilder(version);
    }

    /** The model of all that was added. */
    protected final Model named(String name) {
        return new Model(name, model.build());
    }

    /** The input {@code x} of floats. */
    protected final String x(List<Integer> dims) {
        return model.input("x", FLOAT, dims);
    }

    /** Sizes from 1 to 7 of some dimensions, 4 at most. */
    protected final List<Integer> dims(int leastRank) {
        return dims(leastRank, 0);
    }

    /** The same with so many more dimensions, or as many fewer as there are then too many. */
    protected final List<Integer> dims(int leastRank, long more) {
        int ranks = 5 - leastRank;
        int rank = leastRank + (int) ((below(ranks) + more) % ranks);
        return random.ints(rank, 1, 8).boxed().toList();
    }

    /** An attribute that is 0 or 1. */
    protected final long bit() {
        return below(2);
    }

    protected static List<Long> pair(int first, int second) {
        return List.of((long) first, (long) second);
    }

    /** Floats from -1 to 1. */
    protected final String constant(List<Integer> dims) {
        return constant(dims, () -> random.nextFloat() * 2 - 1);
    }

    protected final String constant(List<Integer> dims, DoubleSupplier each) {
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * count(dims)).order(ByteOrder.LITTLE_ENDIAN);
        while (data.hasRemaining()) {
            data.putFloat((float) each.getAsDouble());
        }
        return model.constant(FLOAT, dims, data.array());
    }

    /** Any integers of a type of eight or fewer bits. */
    protected final String constant(ElementType type, List<Integer> dims) {
        return model.constant(type, dims, bytes((count(dims) * type.bits() + 7) / 8));
    }

    private static int count(List<Integer> dims) {
        return dims.stream().reduce(1, Math::multiplyExact);
    }

    /** The name and more after it. */
    protected static List<String> with(String first, List<String> rest) {
        List<String> all = new ArrayList<>(List.of(first));
        all.addAll(rest);
        return all;
    }

    /** Ends the model with floats that an operator computes. */
    protected final void end(String operator, List<String> inputs, Map<String, Object> attributes) {
        end("", operator, inputs, attributes);
    }

    protected final void end(String domain, String operator, List<String> inputs, Map<String, Object> attributes) {
        model.output(model.node(domain, operator, inputs, "y", attributes), FLOAT);
    }
}
