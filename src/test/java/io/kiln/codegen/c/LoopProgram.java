// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.LoopRun.Region;
import io.kiln.codegen.c.LoopRun.Step;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Many functions of the loop IR as one C program of this machine: printed by the C generator, micro-kernels by their
 * portable twins, and run on memory between guarded pages, so that every access outside of what a run may touch is
 * noticed, to the byte.
 *
 * <p>Compiling takes most of the time. So tables are data of the runs and not C text, equal functions are compiled
 * once, and the compiler is the bundled one, which takes a third of the time of GCC.
 */
public final class LoopProgram {
    private static final List<String> FLAGS = List.of("-std=gnu11", "-O0", "-w", "-c");

    private static final List<String> TRAPS =
            List.of("-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds", "-fsanitize-trap=all");

    /** As the driver has it. */
    private static final int ROOM = 1 << 20;

    private static final List<String> STATUS =
            List.of("", "returned an error", "trapped: arithmetic is undefined, or a local array is exceeded");

    private static final int TOUCHED_OTHER_MEMORY = 3;
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** A run whose function is known by its number. */
    private record Call(int function, List<Bytes> tables, List<Region> regions, boolean zeroScratch, List<Step> steps) {
        int inputs() {
            return steps.get(0).inputs().size();
        }
    }

    /** A C file: kernels of different instruction sets may have one name but not in one file. */
    private static final class Unit {
        private final Map<String, Object> definitions = new HashMap<>();
        private final List<PrimFunc> functions = new ArrayList<>();

        /** Adds a function unless something that it calls has another definition here. */
        boolean add(PrimFunc function) {
            Map<String, Object> called = new HashMap<>();
            UsedIntrinsics.kernels(List.of(function)).forEach(kernel -> called.put(kernel.name(), kernel));
            UsedIntrinsics.of(List.of(function)).forEach(intrinsic -> called.put(intrinsic.name(), intrinsic));
            boolean fits = called.entrySet().stream()
                    .allMatch(e ->
                            definitions.getOrDefault(e.getKey(), e.getValue()).equals(e.getValue()));
            if (fits) {
                definitions.putAll(called);
                functions.add(function);
            }
            return fits;
        }
    }

    private final List<String> flags;
    private final Map<PrimFunc, Integer> functions = new LinkedHashMap<>();
    private final Map<Call, Integer> calls = new LinkedHashMap<>();
    private final List<Unit> units = new ArrayList<>();

    private LoopProgram(List<String> flags) {
        this.flags = flags;
    }

    /** A program that checks arithmetic too: overflow of signed integers, shifts and the bounds of local arrays. */
    public static LoopProgram checkingArithmetic() {
        return new LoopProgram(Stream.concat(FLAGS.stream(), TRAPS.stream()).toList());
    }

    /** A program that checks just the memory that is touched: it takes half the time to compile. */
    public static LoopProgram checkingMemory() {
        return new LoopProgram(FLAGS);
    }

    /** Adds a run and gives its number. A run that equals another has the number of that. */
    public int add(LoopRun run) {
        PrimFunc function = withTablesAsParameters(run.function());
        int number = functions.computeIfAbsent(function, this::define);
        int scalars = function.scalars().size();
        run.steps().forEach(step -> assertThat(step.scalars()).hasSize(scalars));
        assertThat(run.regions()).hasSameSizeAs(run.function().buffers());
        List<Bytes> tables =
                run.function().constants().stream().map(PrimFunc.Table::data).toList();
        Call call = new Call(number, tables, run.regions(), run.zeroScratch(), run.steps());
        return calls.computeIfAbsent(call, c -> calls.size());
    }

    private int define(PrimFunc function) {
        PrimFunc named = function.named("f" + functions.size());
        if (units.stream().noneMatch(unit -> unit.add(named))) {
            units.add(new Unit());
            units.get(units.size() - 1).add(named);
        }
        return functions.size();
    }

    private static PrimFunc withTablesAsParameters(PrimFunc function) {
        List<Buffer> buffers = new ArrayList<>(function.buffers());
        function.constants().forEach(table -> buffers.add(table.buffer()));
        return new PrimFunc("loops", "", buffers, function.scalars(), List.of(), function.body());
    }

    /** Compiles and runs the program; the answers are in the order of the runs' numbers. */
    public List<LoopAnswer> run(Path folder) {
        try {
            Files.createDirectories(folder);
            List<String> names = new ArrayList<>();
            for (Unit unit : units) {
                names.add("unit" + names.size());
                WholeFiles.write(folder.resolve(names.get(names.size() - 1) + ".c"), text(unit));
            }
            names.add("main");
            WholeFiles.write(folder.resolve("main.c"), main());
            compile(folder, names);
            WholeFiles.write(folder.resolve("in.bin"), input().toArray());
            succeed(ProcessRunner.run(
                    Command.of("./program", "in.bin", "out.bin").in(folder).within(LIMIT)));
            ByteBuffer out = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("out.bin")))
                    .order(ByteOrder.LITTLE_ENDIAN);
            List<PrimFunc> all = List.copyOf(functions.keySet());
            List<LoopAnswer> answers = calls.keySet().stream()
                    .map(call -> answer(call, all.get(call.function()), out))
                    .toList();
            assertThat(out.hasRemaining()).isFalse();
            return answers;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void succeed(ProcessResult result) {
        assertThat(result.exitCode()).as(result::message).isZero();
    }

    private void compile(Path folder, List<String> names) {
        String clang = TestToolchains.resolve("clang", TestTargets.M4).compiler();
        List<String> objects = new ArrayList<>(List.of("-o", "program"));
        for (String name : names) {
            List<String> line = new ArrayList<>(flags);
            line.addAll(List.of(name + ".c", "-o", name + ".o"));
            succeed(KeptPrograms.make(
                    folder, name + ".o", Command.of(clang, line).within(LIMIT)));
            objects.add(name + ".o");
        }
        objects.add("-lm");
        succeed(KeptPrograms.make(folder, "program", Command.of("cc", objects).within(LIMIT)));
    }

    private static String text(Unit unit) {
        CodeOrigin origin = new CodeOrigin("cases", Target.parse(TestTargets.HOST));
        return OperatorFilePrinter.print(new CodeUnit(origin, "cases", List.of(), unit.functions));
    }

    private String main() throws IOException {
        StringBuilder prototypes = new StringBuilder("#include <stdbool.h>\n#include <stdint.h>\n\n");
        StringBuilder cases = new StringBuilder();
        functions.forEach((function, number) -> {
            PrimFunc named = function.named("f" + number);
            prototypes.append(CSignature.of(named).text()).append(";\n");
            cases.append("    case " + number + ":\n      return " + named.name() + "(" + arguments(named) + ");\n");
        });
        return prototypes
                + "\nstatic int32_t call_function(uint32_t number, void** b, const int32_t* s) {\n  (void)s;\n"
                + "  switch (number) {\n" + cases + "    default:\n      return -1;\n  }\n}\n"
                + Files.readString(Path.of("src/test/c/loop_driver.c"));
    }

    private static String arguments(PrimFunc function) {
        return Stream.concat(
                        IntStream.range(0, function.buffers().size()).mapToObj(i -> "b[" + i + "]"),
                        IntStream.range(0, function.scalars().size()).mapToObj(i -> "s[" + i + "]"))
                .collect(Collectors.joining(", "));
    }

    private Bytes input() {
        ByteArrayOutputStream in = new ByteArrayOutputStream();
        List<PrimFunc> all = List.copyOf(functions.keySet());
        for (Call call : calls.keySet()) {
            PrimFunc function = all.get(call.function());
            int own = call.regions().size();
            int scratch = call.inputs() + (hasOutput(function, call) ? 1 : 0);
            List<Region> regions = new ArrayList<>(call.regions());
            call.tables().forEach(table -> regions.add(Region.all(table.size())));
            int scalars = function.scalars().size();
            words(
                    in,
                    call.function(),
                    regions.size(),
                    call.inputs(),
                    scratch,
                    own,
                    call.steps().size(),
                    scalars);
            words(in, call.zeroScratch() ? 1 : 0);
            for (Region region : regions) {
                assertThat(region.bytes()).isLessThanOrEqualTo(ROOM);
                words(in, region.bytes(), region.begin(), region.end());
            }
            call.tables().forEach(table -> in.writeBytes(table.toArray()));
            for (Step step : call.steps()) {
                for (int i = 0; i < call.inputs(); i++) {
                    Region region = regions.get(i);
                    in.write(step.inputs().get(i).toArray(), region.begin(), region.end() - region.begin());
                }
                words(in, step.scalars().stream().mapToInt(Integer::intValue).toArray());
            }
        }
        return Bytes.wrap(in.toByteArray());
    }

    private static boolean hasOutput(PrimFunc function, Call call) {
        return call.regions().size() > call.inputs()
                && function.buffers().get(call.inputs()).scope() == Buffer.Scope.OUTPUT;
    }

    private static void words(ByteArrayOutputStream to, int... words) {
        ByteBuffer buffer = ByteBuffer.allocate(Integer.BYTES * words.length).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.of(words).forEach(buffer::putInt);
        to.writeBytes(buffer.array());
    }

    private LoopAnswer answer(Call call, PrimFunc function, ByteBuffer out) {
        List<String> failures = new ArrayList<>();
        List<Bytes> outputs = new ArrayList<>();
        for (int place = 0; place < 2; place++) {
            int status = out.getInt();
            int buffer = out.getInt();
            long offset = out.getLong();
            if (status == TOUCHED_OTHER_MEMORY) {
                failures.add(touched(call, function, buffer, offset));
            } else if (status > 0) {
                failures.add(STATUS.get(status));
            }
            if (hasOutput(function, call)) {
                Region region = call.regions().get(call.inputs());
                byte[] output = new byte[region.end() - region.begin()];
                out.get(output);
                outputs.add(Bytes.wrap(output));
            }
        }
        return new LoopAnswer(failures, outputs);
    }

    private static String touched(Call call, PrimFunc function, int buffer, long offset) {
        if (buffer >= function.buffers().size()) {
            return "touches memory far from all buffers";
        }
        String allowed = buffer < call.regions().size()
                ? call.regions().get(buffer).begin() + " to "
                        + call.regions().get(buffer).end()
                : "its own";
        return "touches byte " + offset + " of "
                + function.buffers().get(buffer).name() + ", not just " + allowed;
    }
}
