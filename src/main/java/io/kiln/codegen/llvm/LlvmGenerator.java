// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.c.CalledC;
import io.kiln.target.TargetKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Generates objects: loops by way of LLVM IR, everything else by way of C. The entry point stays C, because structs of
 * the header and of TVM's runtime
 * are its parameters: their layout is C's, and a C compiler knows it for every target.
 *
 * @param compiler makes the objects
 * @param optimize what code is optimised for
 */
public record LlvmGenerator(ObjectCompiler compiler, Optimize optimize) implements CodeGenerator {
    private static final String ID = TargetKind.LLVM.text();
    private static final String SUFFIX = ".o";
    private static final String PACKED = "_packed";
    private static final Pattern INCLUDE = Pattern.compile("(?m)^\\s*#\\s*include\\s*\"([^\"\\n]*)\"");

    @Override
    public List<Artifact> generate(CodeUnit unit) {
        List<Artifact> objects = new ArrayList<>();
        String name = unit.name() + SUFFIX;
        Optional<String> called = CalledC.print(unit.functions(), unit.origin());
        objects.add(object(name, compiler.compileModule(name, IrModule.print(unit, optimize), called)));
        CalledC.packed(unit).ifPresent(c -> {
            String packed = unit.name() + PACKED + SUFFIX;
            objects.add(object(packed, compiler.compileC(packed, c, runtimeHeaders())));
        });
        return List.copyOf(objects);
    }

    @Override
    public List<Artifact> finish(List<Artifact> files) {
        Map<String, Bytes> headers = runtimeHeaders();
        files.stream()
                .filter(file -> file.kind() == ArtifactKind.HEADER)
                .forEach(header -> headers.put(header.fileName(), header.content()));
        return files.stream()
                .map(file -> file.kind() == ArtifactKind.SOURCE && includesOnly(headers.keySet(), file.text())
                        ? object(file, headers)
                        : file)
                .toList();
    }

    /** Whether the headers that a source names in quotes are here; others come with the project that builds the image. */
    private static boolean includesOnly(Set<String> headers, String source) {
        return INCLUDE.matcher(source).results().allMatch(include -> headers.contains(include.group(1)));
    }

    private Artifact object(Artifact source, Map<String, Bytes> headers) {
        String name = source.fileName().replaceFirst("\\.c$", SUFFIX);
        Bytes content = compiler.compileC(name, source.text(), headers);
        return Artifact.of(ID, ArtifactKind.OBJECT, name, content).withTargetKey(source.targetKey());
    }

    private static Artifact object(String name, Bytes content) {
        return Artifact.of(ID, ArtifactKind.OBJECT, name, content);
    }

    private static Map<String, Bytes> runtimeHeaders() {
        String folder = ArchivePaths.INCLUDE + "/";
        Map<String, Bytes> headers = new TreeMap<>();
        RuntimeFiles.runtime().stream()
                .filter(file -> file.fileName().startsWith(folder))
                .forEach(file -> headers.put(file.fileName().substring(folder.length()), file.content()));
        return headers;
    }
}
