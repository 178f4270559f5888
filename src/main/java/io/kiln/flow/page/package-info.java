// SPDX-License-Identifier: Apache-2.0
/** The page of a build, from the reports in its folder. */
package io.kiln.flow.page;
