// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SupportedOperators.Support;
import java.util.Map;

/** Operators that keep state between runs, by their codes. */
final class StatefulOperators {
    static final Map<Integer, Support> ALL = Map.ofEntries(
            Map.entry(27, new Support(new SvdfImporter(), 4)),
            Map.entry(44, new Support(new LstmImporter(), 4)),
            Map.entry(118, new Support(new ControlFlowImporter(false), 1)),
            Map.entry(119, new Support(new ControlFlowImporter(true), 1)),
            Map.entry(129, new Support(VariableImporter.CALL_ONCE, 1)),
            Map.entry(142, new Support(VariableImporter.VAR_HANDLE, 1)),
            Map.entry(143, new Support(VariableImporter.READ_VARIABLE, 1)),
            Map.entry(144, new Support(VariableImporter.ASSIGN_VARIABLE, 1)));

    private StatefulOperators() {}
}
