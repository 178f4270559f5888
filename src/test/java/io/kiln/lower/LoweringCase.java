// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.codegen.c.LoopRun;
import io.kiln.codegen.c.LoopRun.Region;
import io.kiln.codegen.c.LoopRun.Step;
import io.kiln.draw.RandomLayers;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ExpectedOutput.Part;
import io.kiln.reference.Interpreter;
import io.kiln.tir.Buffer;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.List;

/**
 * A seeded operator with inputs and what it must answer.
 *
 * @param function the model of one operator
 * @param op that operator, fused
 * @param inputs of the function
 * @param expected what the reference interpreter answers
 */
public record LoweringCase(Function function, FusedOperator op, List<Bytes> inputs, Bytes expected) {
    /** The case with a seed, run through the standard pipeline; it fuses to one operator. */
    public static LoweringCase of(long seed) {
        Function drawn = RandomOperators.mixed(seed);
        return of(seed % 5 == 4 ? RandomOperators.ofFourBits(drawn) : drawn, seed);
    }

    /** An operator that moves, combines, reduces or converts elements; operators and element types take turns. */
    static LoweringCase ofElement(long seed) {
        return of(RandomOperators.element(seed), seed);
    }

    static LoweringCase ofPool(long seed) {
        return of(RandomOperators.pool(seed), seed);
    }

    /** A convolution of float data. */
    public static LoweringCase ofFloats(long seed) {
        return of(RandomOperators.ofFloats(seed), seed);
    }

    /** A convolution of float data with few products for each result, or groups. */
    static LoweringCase ofGroupedFloats(long seed) {
        return of(RandomOperators.ofGroupedFloats(seed), seed);
    }

    /** A depthwise convolution of int16 data. */
    static LoweringCase ofWide(long seed) {
        return of(RandomLayers.wide(seed), seed);
    }

    /** A transposed convolution of int16 data. */
    static LoweringCase ofWideTransposed(long seed) {
        return of(RandomLayers.transposedWide(seed), seed);
    }

    /** A transposed convolution of int8 or float data. */
    static LoweringCase ofTransposed(long seed) {
        return of(RandomLayers.transposed(seed), seed);
    }

    /** A layer with more padding than its windows are large. */
    public static LoweringCase farPadded(long seed) {
        return of(RandomOperators.farPadded(seed), seed);
    }

    /** A convolution of 1x1 whose weights no RAM to spare holds. */
    static LoweringCase largePointwise(long seed) {
        return of(RandomOperators.largePointwise(seed), seed);
    }

    /** A dense layer of thousands of products. */
    public static LoweringCase dense(long seed) {
        return of(RandomOperators.dense(seed), seed);
    }

    /** A dense layer with 50 KB of weights and more. */
    public static LoweringCase largeDense(long seed) {
        return of(RandomOperators.largeDense(seed), seed);
    }

    /** A dense layer of thousands of products with weights of four bits. */
    public static LoweringCase denseOfFourBits(long seed) {
        return of(RandomOperators.ofFourBits(RandomOperators.dense(seed)), seed);
    }

    /** A function that was drawn, with inputs that a seed draws. */
    static LoweringCase of(Function drawn, long seed) {
        Function function = Pipeline.standard().run(drawn);
        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            inputs.add(
                    seed % 3 == 1
                            ? RandomOperators.special(parameter.type(), seed * 31 + inputs.size())
                            : RandomOperators.input(parameter.type(), seed * 31 + inputs.size()));
        }
        Bytes expected = Interpreter.run(function, inputs).get(0);
        List<FusedOperator> operators = FusedOperator.all(function, "tvmgen_case");
        assertThat(operators).as("seed %d fuses to one operator", seed).hasSize(1);
        return new LoweringCase(function, operators.get(0), inputs, expected);
    }

    /** The shape of an input of the operator. */
    public Shape shape(int input) {
        return function.types().get(op.inputs().get(input)).shape();
    }

    /** A run over whole tensors. */
    public LoweringRun whole(LoweredOperator lowered) {
        List<Region> regions = new ArrayList<>();
        lowered.inputs().forEach(id -> regions.add(Region.all(inputs.get(id).size())));
        regions.add(Region.all(expected.size()));
        return run(lowered, regions, new Step(contents(lowered), List.of()), List.of(new Part(0, expected)));
    }

    /** A run of one step; regions are those of inputs and output. */
    LoweringRun run(LoweredOperator lowered, List<Region> regions, Step step, List<Part> parts) {
        return run(lowered, regions, false, List.of(step), parts);
    }

    LoweringRun run(
            LoweredOperator lowered, List<Region> regions, boolean zeroScratch, List<Step> steps, List<Part> parts) {
        List<Region> all = new ArrayList<>(regions);
        List<Buffer> buffers = lowered.function().buffers();
        buffers.subList(regions.size(), buffers.size()).forEach(b -> all.add(Region.all((int) b.bytes())));
        String what = function.name() + ", " + op.op() + ", " + lowered.schedule();
        return new LoweringRun(
                new LoopRun(lowered.function(), all, zeroScratch, steps),
                new ExpectedOutput(what, op.type().dtype(), parts));
    }

    /** The inputs in the order of the parameters. */
    List<Bytes> contents(LoweredOperator lowered) {
        return lowered.inputs().stream().map(inputs::get).toList();
    }
}
