// SPDX-License-Identifier: Apache-2.0
/** What changed between two builds, and limits of what may grow. */
package io.kiln.report.diff;
