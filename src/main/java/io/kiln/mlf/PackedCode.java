// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The code of a model with the packed interface, which has no header: what its functions are, and the metadata that it keeps for an executor.
 *
 * @param convention whether operators are packed, too
 * @param functions the packed functions; the first one runs the model
 * @param text all C of the model; empty for object code
 */
record PackedCode(Convention convention, List<String> functions, String text) {
    /**
     * The first two parameters tell packed functions from others. TVM names their types in two ways; those of an entry point to operators that
     * are not packed are all {@code void*}.
     */
    private static final Pattern FUNCTION = Pattern.compile(
            "\\b(\\w{1,250})\\s*\\(\\s*(?:TVMValue|void)\\s*\\*\\s*\\w{1,250}\\s*,\\s*(?:int(?:32_t)?|void)\\s*\\*\\s*\\w{1,250}\\s*,\\s*int");

    PackedCode {
        functions = List.copyOf(functions);
    }

    /**
     * The packed functions of a model's code, if there is one that runs it.
     *
     * @param code the model's artifacts
     */
    static Optional<PackedCode> of(InterfaceNames names, List<Artifact> code) {
        StringBuilder text = new StringBuilder();
        Set<String> symbols = new LinkedHashSet<>();
        for (Artifact artifact : code) {
            if (artifact.kind() == ArtifactKind.SOURCE) {
                text.append(artifact.text()).append('\n');
            } else if (artifact.kind() == ArtifactKind.OBJECT) {
                symbols.addAll(defined(
                        artifact.content(), List.of(names.run(), names.main(), names.reset(), names.metadata())));
            }
        }
        Set<String> found = new LinkedHashSet<>();
        Matcher matcher = FUNCTION.matcher(text);
        while (matcher.find()) {
            // TVM keeps capitals of a model's name here, unlike in headers.
            if (startsWith(matcher.group(1), names.prefix() + "_")) {
                found.add(matcher.group(1));
            }
        }
        found.addAll(symbols);
        // The llvm target makes no entry point: its main function takes the tensors.
        Optional<String> main = find(found, names.main());
        Optional<String> entry = find(found, names.run()).or(() -> main.filter(name -> !symbols.isEmpty()));
        if (entry.isEmpty()) {
            return Optional.empty();
        }
        List<String> functions = new ArrayList<>(List.of(entry.get()));
        Optional<String> metadata = find(found, names.metadata());
        found.stream()
                .filter(name -> !functions.contains(name) && !metadata.equals(Optional.of(name)))
                .forEach(functions::add);
        metadata.ifPresent(functions::add);
        Convention convention = main.isPresent() ? Convention.PACKED : Convention.PACKED_ENTRY;
        return Optional.of(new PackedCode(convention, functions, text.toString()));
    }

    /** The packed functions of sources that no entry point calls, in the order of their declarations. */
    static List<String> operators(List<Artifact> code) {
        return code.stream()
                .filter(artifact -> artifact.kind() == ArtifactKind.SOURCE)
                .flatMap(source -> FUNCTION.matcher(source.text()).results())
                .map(found -> found.group(1))
                .distinct()
                .toList();
    }

    private static boolean startsWith(String name, String prefix) {
        return name.regionMatches(true, 0, prefix, 0, prefix.length());
    }

    private static Optional<String> find(Set<String> functions, String name) {
        return functions.stream().filter(name::equalsIgnoreCase).findFirst();
    }

    /**
     * Which of some symbols an object defines.
     *
     * @param wanted their names
     */
    static List<String> defined(Bytes object, List<String> wanted) {
        try {
            return ElfFile.read(object, "object").symbols().stream()
                    .filter(ElfFile.Symbol::isExported)
                    .map(ElfFile.Symbol::name)
                    .filter(wanted::contains)
                    .distinct()
                    .toList();
        } catch (KilnException e) {
            return List.of();
        }
    }
}
