// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.artifact.Artifact;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.partition.CompositePattern;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalUnit;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Generates commands for the vector unit: {@code vecu -lanes=8, c -mcpu=cortex-m4}. */
public final class VecuCodegen implements ExternalCodegen {
    static final String NAME = "vecu";

    private static final String LANES = "lanes";
    private static final String HEADER = "vecu.h";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean hasDevice() {
        return true;
    }

    @Override
    public Optional<Problem> check(CompositeTarget.External external, Target host) {
        boolean isKnown = Set.of(LANES).containsAll(external.attributes().keySet());
        return isKnown && external.option(LANES, "8").matches("[1-9]|1[0-6]")
                ? Optional.empty()
                : Optional.of(Failure.TARGET.problem(
                        "these are no options of the vector unit", external.text(), "-lanes=1 to 16", ""));
    }

    @Override
    public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
        return List.of(Convolution.PATTERN);
    }

    @Override
    public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
        return new Convolution(function.body()).call();
    }

    /** The functions in C, which start the unit; the header of its driver; the commands for tools. */
    @Override
    public List<Artifact> generate(ExternalUnit unit) {
        int lanes = Integer.parseInt(unit.external().option(LANES, "8"));
        List<Program> programs = unit.functions().stream()
                .map(function -> new Program(function.symbol(), new Convolution(function.body()).stream(lanes)))
                .toList();
        StringBuilder text = new StringBuilder("#include \"" + HEADER + "\"\n");
        for (int i = 0; i < programs.size(); i++) {
            text.append(function(unit.functions().get(i), programs.get(i).words(), "commands_" + i));
        }
        return List.of(
                file(Artifact.NATIVE, unit.file() + ".c", Bytes.ofText(text.toString())),
                file(Artifact.NATIVE, HEADER, resource(HEADER)),
                file(NAME, unit.file() + ".vcs", Program.write(programs)));
    }

    private static String function(ExternalFunction function, List<Integer> words, String commands) {
        String signature = "int32_t " + function.symbol() + "("
                + String.join(", ", new Convolution(function.body()).call().parameters(function)) + ")";
        String list =
                words.stream().map(word -> Integer.toUnsignedString(word) + "u").collect(Collectors.joining(", "));
        return String.format(Locale.ROOT, """

            static const uint32_t %2$s[] = {%3$s};
            %1$s;
            %1$s {
              const void* const regions[VECU_REGIONS] = {input_, filter_, bias_, multiplier_, shift_, output_, context_};
              return vecu_run(device_, %2$s, %4$du, regions);
            }
            """, signature, commands, list, words.size());
    }

    private static Artifact file(String loader, String name, Bytes content) {
        return new Artifact(NAME, loader, name, content, NAME);
    }

    private static Bytes resource(String name) {
        try (InputStream in = VecuCodegen.class.getResourceAsStream(name)) {
            return Bytes.wrap(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
