// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.flow.state.FreshFolder;
import io.kiln.module.inspect.ArtifactInspector;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The instructions of objects, images and shared libraries, with relocations, as GNU objdump prints them. The bundled compiler has no
 * disassembler, so the program of the core's GNU binutils must be installed.
 */
final class DisassemblyInspector implements ArtifactInspector {
    private static final String PURPOSE = "to disassemble";

    /** Disassemblers by machine, as ELF numbers them; other machines are those that the system's own objdump knows. */
    private static final Map<Integer, Tool> TOOLS = Map.of(
            40, new Tool("arm-none-eabi-objdump", List.of("binutils-arm-none-eabi"), PURPOSE),
            243, new Tool("riscv64-unknown-elf-objdump", List.of("binutils-riscv64-unknown-elf"), PURPOSE));

    private static final Tool SYSTEM = new Tool("objdump", List.of("binutils"), PURPOSE);
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final IntFunction<Tool> tools;

    DisassemblyInspector() {
        this(DisassemblyInspector::tool);
    }

    /** An inspector with other tools by machine. */
    DisassemblyInspector(IntFunction<Tool> tools) {
        this.tools = tools;
    }

    @Override
    public String name() {
        return "disassembly";
    }

    @Override
    public Scope scope() {
        return Scope.ARTIFACT;
    }

    @Override
    public boolean accepts(Artifact artifact) {
        return artifact.kind() == ArtifactKind.OBJECT || artifact.fileName().endsWith(".so");
    }

    @Override
    public List<String> inspect(List<Artifact> artifacts) {
        List<String> lines = new ArrayList<>();
        artifacts.forEach(artifact -> lines.addAll(disassembled(artifact)));
        return lines;
    }

    static Tool tool(int machine) {
        return TOOLS.getOrDefault(machine, SYSTEM);
    }

    private List<String> disassembled(Artifact artifact) {
        Tool tool = tools.apply(
                ElfFile.read(artifact.content(), artifact.fileName()).machine());
        String program = tool.path().orElseThrow(() -> missing(tool, artifact)).toString();
        try {
            Path folder = Files.createTempDirectory("kiln-disassembly");
            try {
                return disassembled(artifact, program, folder);
            } finally {
                FreshFolder.clear(folder);
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot disassemble", Path.of(artifact.fileName()), e);
        }
    }

    /** The lines of the disassembler, read from a file: the output for an image is larger than what a process's result holds. */
    private static List<String> disassembled(Artifact artifact, String program, Path folder) throws IOException {
        Files.write(folder.resolve("code.o"), artifact.content().toArray());
        Path text = folder.resolve("code.txt");
        ProcessResult result = ProcessRunner.run(Command.of(program, "--disassemble", "--reloc", "--wide", "code.o")
                .in(folder)
                .within(PATIENCE)
                .owning(folder)
                .loggingTo(text));
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    "cannot be disassembled: " + result.message().strip(), artifact.fileName(), "an object with code");
        }
        return Files.readString(text, StandardCharsets.ISO_8859_1)
                .lines()
                .map(line -> line.replace('\t', ' ').stripTrailing())
                .filter(line -> !line.isEmpty() && !line.startsWith("code.o:"))
                .toList();
    }

    private static KilnException missing(Tool tool, Artifact artifact) {
        String packages = String.join(" ", tool.packages());
        return Failure.TOOL.exception(
                "cannot be disassembled: " + tool.program() + " is not installed",
                artifact.fileName(),
                tool.program() + " on the PATH",
                "Install GNU binutils, for example by apt-get install " + packages);
    }
}
