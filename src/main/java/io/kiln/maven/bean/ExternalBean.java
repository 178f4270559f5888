// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.partition.UserFunctions;
import java.util.List;
import java.util.stream.Stream;

/** One {@code <external>} of {@code <externals>}: the C function that computes a chain of operators. */
public final class ExternalBean {
    private String name = "";
    private String operators = "";
    private String function = "";
    private String header = "";
    private boolean constants;

    /** Set by Maven from {@code <name>}: name of the pattern. */
    public void setName(String name) {
        this.name = name;
    }

    /** Set by Maven from {@code <operators>}: names with blanks between them, a {@code ?} behind those that may be missing. */
    public void setOperators(String operators) {
        this.operators = operators;
    }

    /** Set by Maven from {@code <function>}: name of the C function. */
    public void setFunction(String function) {
        this.function = function;
    }

    /** Set by Maven from {@code <header>}: file below src/main/c that declares it. */
    public void setHeader(String header) {
        this.header = header;
    }

    /** Set by Maven from {@code <constants>}: whether the function gets the operators' constants. */
    public void setConstants(boolean constants) {
        this.constants = constants;
    }

    /** The function in the compiler's form. */
    public UserFunctions.External external() {
        List<String> words = operators.isBlank()
                ? List.of()
                : Stream.of(operators.strip().split("\\s+", -1)).toList();
        return new UserFunctions.External(name.strip(), words, function.strip(), header.strip(), constants);
    }
}
