// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Problem;

/** Ends the reading of a statement; the parser catches it, notes the problem and goes on behind the statement. */
final class SyntaxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    SyntaxException(Problem problem) {
        super(problem.text(), null, false, false);
        this.problem = problem;
    }

    Problem problem() {
        return problem;
    }
}
