// SPDX-License-Identifier: Apache-2.0
/** What goals that only show something print as JSON; the schemas are in {@code toolchains/schemas}. */
package io.kiln.report.listing;
