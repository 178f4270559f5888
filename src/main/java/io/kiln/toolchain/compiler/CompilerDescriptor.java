// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Optimize;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The content of a compiler descriptor; {@code toolchains/schemas/compiler.schema.json} explains the keys.
 *
 * @param shims whether Kiln's own C library shims replace the toolchain's library
 */
record CompilerDescriptor(
        String id, String title, boolean shims, Optional<Bundle> bundle, FlagSets flags, Map<String, Family> families) {

    /**
     * A Maven artifact that contains the compiler.
     *
     * @param sha256 digest of the artifact for each classifier, in lower-case hexadecimal
     */
    record Bundle(
            String groupId,
            String artifactId,
            String version,
            int fetchMegabytes,
            int diskMegabytes,
            Map<String, String> sha256) {
        Bundle {
            sha256 = Map.copyOf(sha256);
        }
    }

    /** Cores that one driver compiles for. */
    record Family(
            String compiler, String install, List<String> flags, List<String> link, Map<String, List<String>> cpus) {}

    /** The family that contains this core. */
    Optional<Family> familyOf(String cpu) {
        return families.values().stream()
                .filter(family -> family.cpus().containsKey(cpu))
                .findFirst();
    }

    /** All cores of the descriptor, sorted. */
    TreeSet<String> cpus() {
        TreeSet<String> names = new TreeSet<>();
        families.values().forEach(family -> names.addAll(family.cpus().keySet()));
        return names;
    }

    /**
     * Flags of a compiler driver.
     *
     * @param compile flags of every compilation
     * @param sources flags by kind of source
     * @param optimize flags by optimization goal
     * @param link flags of every link
     * @param libraries arguments after the objects of a link
     */
    public record FlagSets(
            List<String> compile,
            Map<SourceKind, List<String>> sources,
            Map<Optimize, List<String>> optimize,
            List<String> link,
            List<String> libraries) {
        public FlagSets {
            compile = List.copyOf(compile);
            sources = Map.copyOf(sources);
            optimize = Map.copyOf(optimize);
            link = List.copyOf(link);
            libraries = List.copyOf(libraries);
        }

        FlagSets with(List<String> compilation, List<String> linking) {
            return new FlagSets(compilation, sources, optimize, linking, libraries);
        }

        /** The same sets with further flags of C++. */
        FlagSets withCplusplus(List<String> more) {
            Map<SourceKind, List<String>> others = new EnumMap<>(sources);
            others.put(
                    SourceKind.CPLUSPLUS,
                    Stream.concat(more.stream(), sources.get(SourceKind.CPLUSPLUS).stream())
                            .toList());
            return new FlagSets(compile, others, optimize, link, libraries);
        }

        /** The same sets with other flags of every compilation and other libraries. */
        FlagSets withLibrary(List<String> compilation, List<String> archives) {
            return new FlagSets(compilation, sources, optimize, link, archives);
        }
    }
}
