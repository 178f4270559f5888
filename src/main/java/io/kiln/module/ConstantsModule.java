// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.LazyList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Constants that functions of the imported modules get before their first call: {@code const_loader}, or {@code metadata} in older libraries.
 *
 * @param variables names of the constants
 * @param arrays the constants, in the order of their names
 * @param symbols functions that need constants
 * @param needed names of the constants that each function needs
 */
public record ConstantsModule(
        List<String> variables, List<SerializedArray> arrays, List<String> symbols, List<List<String>> needed)
        implements ModulePayload {
    private static final String NEEDED = "constants of a function";

    public ConstantsModule {
        variables = LazyList.copyOf(variables);
        arrays = LazyList.copyOf(arrays);
        symbols = LazyList.copyOf(symbols);
        needed = needed instanceof LazyList
                ? needed
                : needed.stream().map(List::copyOf).toList();
    }

    static ConstantsModule read(ModuleReader in) {
        List<String> variables = in.texts("constants");
        int at = in.position();
        List<SerializedArray> arrays =
                SerializedArray.list(in, in.count(SerializedArray.LEAST_BYTES, "the number of arrays"));
        same(in, variables.size(), arrays.size(), "constants", at);
        List<String> symbols = in.texts("functions with constants");
        at = in.position();
        List<List<String>> needed = in.items(
                in.count(8, "the number of lists of constants"),
                each -> each.skipTexts(NEEDED),
                each -> each.texts(NEEDED));
        same(in, symbols.size(), needed.size(), "functions", at);
        return new ConstantsModule(variables, arrays, symbols, needed);
    }

    private static void same(ModuleReader in, int names, int values, String what, int at) {
        if (names != values) {
            throw in.broken("there are " + names + " names of " + what + " and " + values + " values", at);
        }
    }

    @Override
    public List<String> functions() {
        return symbols;
    }

    @Override
    public List<String> details() {
        return IntStream.range(0, arrays.size())
                .mapToObj(i -> variables.get(i) + ": " + arrays.get(i).text())
                .toList();
    }

    @Override
    public void write(ModuleWriter out) {
        out.strings(variables).u64(arrays.size());
        arrays.forEach(array -> out.raw(array.bytes()));
        out.strings(symbols).u64(needed.size());
        needed.forEach(out::strings);
    }
}
