// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.codegen.c.LoopRun;

/** A run of a lowered operator with what it must compute. */
public record LoweringRun(LoopRun run, ExpectedOutput expected) {}
