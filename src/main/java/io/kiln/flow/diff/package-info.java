// SPDX-License-Identifier: Apache-2.0
/** Compares builds, and keeps the reports of the last one. */
package io.kiln.flow.diff;
