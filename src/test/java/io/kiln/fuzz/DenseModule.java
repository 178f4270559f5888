// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.module.ModuleWriter;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;

/** Payloads of modules that hold as many tiny items as a file can. */
enum DenseModule {
    FUNCTIONS_OF_A_DEVICE("cuda", 36, (out, count) -> {
        out.string("ptx").u64(count);
        names(count, i -> out.string(name(i)).string("").u64(0).u64(0));
        out.string("");
    }),
    ARGUMENTS_AND_TAGS_OF_FUNCTIONS("cuda", 68, (out, count) -> {
        out.string("ptx").u64(count);
        names(
                count,
                i -> out.string(name(i))
                        .string("")
                        .u64(4)
                        .u64(0)
                        .u64(0)
                        .u64(2)
                        .u64(0)
                        .u64(0));
        out.string("");
    }),
    FUNCTIONS_OF_A_SOURCE("c", 8, (out, count) -> {
        out.string("").string("c").u64(count);
        names(count, i -> out.u64(0));
        out.u64(0);
    }),
    CONSTANTS_OF_A_SOURCE("c", 10, (out, count) -> {
        out.string("").string("c").u64(0).u64(count);
        names(count, i -> out.string("é"));
    }),
    FUNCTIONS_OF_AN_OBJECT("static_library", 9, (out, count) -> {
        out.string("").u64(count);
        names(count, i -> out.string("f"));
    }),
    CONSTANTS_OF_FUNCTIONS("const_loader", 64, (out, count) -> {
        out.u64(count);
        names(count, i -> out.u64(0));
        out.u64(count);
        names(count, i -> scalar(out));
        out.u64(count);
        names(count, i -> out.u64(0));
        out.u64(count);
        names(count, i -> out.u64(0));
    }),
    PARAMETERS_OF_A_GRAPH("GraphExecutorFactory", 48, (out, count) -> {
        out.string("{}");
        parameters(out, count);
    }),
    PARAMETERS("AotExecutorFactory", 48, DenseModule::parameters);

    private static final long ARRAY = 0xDD5E40F096B4A13FL;

    private final String key;
    private final int itemBytes;

    @SuppressWarnings("ImmutableEnumChecker") // The lambdas capture nothing.
    private final ObjIntConsumer<ModuleWriter> payload;

    DenseModule(String key, int itemBytes, ObjIntConsumer<ModuleWriter> payload) {
        this.key = key;
        this.itemBytes = itemBytes;
        this.payload = payload;
    }

    /** A library of about this size that imports such a module. */
    Bytes blob(int bytes) {
        ModuleWriter out = new ModuleWriter().u64(1).string(key);
        payload.accept(out, bytes / itemBytes);
        return withLength(out);
    }

    /** A blob of a stream. */
    static Bytes withLength(ModuleWriter out) {
        Bytes stream = out.bytes();
        return new ModuleWriter().u64(stream.size()).raw(stream).bytes();
    }

    private static void parameters(ModuleWriter out, int count) {
        out.u64(count).u64(count);
        names(count, i -> out.u64(0));
        names(count, i -> scalar(out));
        out.string("model");
    }

    /** An array on the CPU without dimensions and of a type without bits. */
    private static void scalar(ModuleWriter out) {
        out.u64(ARRAY).u64(0).u32(1).u32(0).u32(0).u32(0x010000).u64(0);
    }

    private static void names(int count, IntConsumer each) {
        IntStream.range(0, count).forEach(each);
    }

    private static String name(int index) {
        return Integer.toString(index, Character.MAX_RADIX);
    }
}
