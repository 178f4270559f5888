// SPDX-License-Identifier: Apache-2.0
package com.example.vecu;

import io.kiln.spi.ArtifactFile;
import io.kiln.spi.CallArguments;
import io.kiln.spi.CodeGenerator;
import io.kiln.spi.CodeRequest;
import io.kiln.spi.ExtensionFailure;
import io.kiln.spi.OperatorChain;
import io.kiln.spi.OperatorPattern;
import io.kiln.spi.RequestedFunction;
import io.kiln.spi.TargetPart;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** Generates commands for the vector unit: {@code vecu -lanes=8, c -mcpu=cortex-m4}. */
public final class VecuCodegen implements CodeGenerator {
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
    public void check(TargetPart part) {
        boolean isKnown = Set.of(LANES).containsAll(part.options().keySet());
        if (!isKnown || !part.option(LANES, "8").matches("[1-9]|1[0-6]")) {
            throw new ExtensionFailure("these are no options of the vector unit", "", "-lanes=1 to 16", "");
        }
    }

    @Override
    public List<OperatorPattern> patterns(TargetPart part) {
        return List.of(Convolution.PATTERN);
    }

    @Override
    public CallArguments call(OperatorChain chain, TargetPart part) {
        return new Convolution(chain).call();
    }

    /** The functions in C, which start the unit; the header of its driver; the commands for tools. */
    @Override
    public List<ArtifactFile> generate(CodeRequest request) {
        int lanes = Integer.parseInt(request.target().option(LANES, "8"));
        List<Program> programs = request.functions().stream()
                .map(function -> new Program(function.symbol(), new Convolution(function.operators()).stream(lanes)))
                .toList();
        StringBuilder text = new StringBuilder("#include \"" + HEADER + "\"\n");
        for (int i = 0; i < programs.size(); i++) {
            text.append(function(request.functions().get(i), programs.get(i).words(), "commands_" + i));
        }
        return List.of(
                ArtifactFile.ofText(NAME, ArtifactFile.NATIVE, request.file() + ".c", text.toString(), NAME),
                ArtifactFile.ofText(NAME, ArtifactFile.NATIVE, HEADER, resource(HEADER), NAME),
                new ArtifactFile(NAME, NAME, request.file() + ".vcs", Program.write(programs), NAME));
    }

    private static String function(RequestedFunction function, List<Integer> words, String commands) {
        String list =
                words.stream().map(word -> Integer.toUnsignedString(word) + "u").collect(Collectors.joining(", "));
        return String.format(Locale.ROOT, """

            static const uint32_t %2$s[] = {%3$s};
            %1$s;
            %1$s {
              const void* const regions[VECU_REGIONS] = {input_, filter_, bias_, multiplier_, shift_, output_, context_};
              return vecu_run(device_, %2$s, %4$du, regions);
            }
            """, function.prototype(), commands, list, words.size());
    }

    private static String resource(String name) {
        try (InputStream in = VecuCodegen.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
