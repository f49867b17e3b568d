#include "analysis/analysis_point.h"

perp_status perp_analyze_rigidity(analysis_point *point, perp_error *error)
{
    return perp_analysis_reason(point, -1, error, "rigidity was not looked at");
}
