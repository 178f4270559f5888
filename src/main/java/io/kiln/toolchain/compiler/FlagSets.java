// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Optimize;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

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

    /** The same sets with other flags of every compilation and of every link. */
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
